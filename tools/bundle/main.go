// Command bundle makes the assets of the viewer, view/assets, from its sources,
// view/web: TypeScript and styles in, one script and one style sheet out. It
// fetches the npm packages that package-lock.json names first, when they are
// not there.
//
//	go -C tools run ./bundle          # write the assets
//	go -C tools run ./bundle -test    # run the tests of the sources under Node
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	sources = "../view/web"
	assets  = "../view/assets"
	// limit is what the page may weigh without a record, in bytes.
	limit = 120_000
)

func main() {
	test := flag.Bool("test", false, "run the tests of the sources")
	flag.Parse()
	err := packages()
	switch {
	case err != nil:
	case *test:
		err = tests()
	default:
		err = build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// packages fetches the npm packages unless they are there.
func packages() error {
	if _, err := os.Stat(filepath.Join(sources, "node_modules", "preact")); err == nil {
		return nil
	}
	return run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
}

func run(name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = sources, os.Stdout, os.Stderr
	return c.Run()
}

func build() error {
	result := api.Build(api.BuildOptions{
		EntryPoints:       []string{sources + "/app.ts", sources + "/app.css"},
		Outdir:            assets,
		Bundle:            true,
		Write:             true,
		Charset:           api.CharsetUTF8,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		LegalComments:     api.LegalCommentsEndOfFile,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		LogLevel:          api.LogLevelInfo,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	total := 0
	for _, f := range result.OutputFiles {
		total += len(f.Contents)
	}
	fmt.Printf("the page weighs %d bytes\n", total)
	if total > limit {
		return fmt.Errorf("the page weighs %d bytes, %d at most", total, limit)
	}
	return nil
}

// tests bundles each test of the sources and runs all of them.
func tests() error {
	names, err := filepath.Glob(sources + "/*.test.ts")
	if err != nil {
		return err
	}
	out := filepath.Join(sources, "node_modules", ".tests")
	result := api.Build(api.BuildOptions{
		EntryPoints:  names,
		Outdir:       out,
		OutExtension: map[string]string{".js": ".mjs"},
		Bundle:       true,
		Write:        true,
		Format:       api.FormatESModule,
		Platform:     api.PlatformNode,
		Target:       api.ES2022,
		LogLevel:     api.LogLevelInfo,
	})
	if len(result.Errors) > 0 {
		return fmt.Errorf("%d errors", len(result.Errors))
	}
	return run("node", "--test", "node_modules/.tests/")
}
