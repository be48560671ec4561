// The scene is drawn through a painter: onto a canvas, or into the text of an
// SVG. So an exported picture is what the screen shows.

export interface Style { fill?: string; stroke?: string; width?: number; dash?: number[]; alpha?: number }
export interface Font { size: number; bold?: boolean; italic?: boolean; color: string; middle?: boolean; strike?: boolean }

export interface Painter {
  rect(x: number, y: number, w: number, h: number, radius: number, s: Style): void;
  line(points: number[], s: Style): void;
  triangle(x: number, y: number, s: Style): void;
  text(x: number, y: number, text: string, f: Font): void;
}

const family = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** The width of a monospaced character, in its size. */
export const advance = 0.602;

export class CanvasPainter implements Painter {
  constructor(private c: CanvasRenderingContext2D) {}

  private finish(s: Style) {
    const c = this.c;
    c.globalAlpha = s.alpha ?? 1;
    if (s.fill) {
      c.fillStyle = s.fill;
      c.fill();
    }
    if (s.stroke) {
      c.strokeStyle = s.stroke;
      c.lineWidth = s.width ?? 1;
      c.setLineDash(s.dash ?? []);
      c.stroke();
    }
    c.globalAlpha = 1;
  }

  rect(x: number, y: number, w: number, h: number, radius: number, s: Style) {
    this.c.beginPath();
    if (radius > 0) this.c.roundRect(x, y, w, h, Math.min(radius, h / 2));
    else this.c.rect(x, y, w, h);
    this.finish(s);
  }

  line(p: number[], s: Style) {
    const c = this.c;
    c.beginPath();
    c.moveTo(p[0], p[1]);
    for (let i = 2; i < p.length; i += 2) {
      if (p[i] === p[i - 2]) {
        c.lineTo(p[i], p[i + 1]);
      } else {
        const middle = (p[i + 1] + p[i - 1]) / 2;
        c.bezierCurveTo(p[i - 2], middle, p[i], middle, p[i], p[i + 1]);
      }
    }
    this.finish(s);
  }

  triangle(x: number, y: number, s: Style) {
    this.c.beginPath();
    this.c.moveTo(x, y);
    this.c.lineTo(x - 3.2, y - 6);
    this.c.lineTo(x + 3.2, y - 6);
    this.c.closePath();
    this.finish(s);
  }

  text(x: number, y: number, text: string, f: Font) {
    const c = this.c;
    c.font = `${f.italic ? "italic " : ""}${f.bold ? "bold " : ""}${f.size}px ${family}`;
    c.textAlign = f.middle ? "center" : "left";
    c.fillStyle = f.color;
    c.fillText(text, x, y);
    if (f.strike) c.fillRect(f.middle ? x - c.measureText(text).width / 2 : x, y - f.size * 0.35, c.measureText(text).width, 0.8);
  }
}

const escapes: { [c: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const esc = (s: string) => s.replace(/[&<>"']/g, (c) => escapes[c]);

export class SVGPainter implements Painter {
  private parts: string[] = [];

  private style(s: Style): string {
    return `fill="${s.fill ?? "none"}"` + (s.stroke ? ` stroke="${s.stroke}" stroke-width="${s.width ?? 1}"` : "") +
      (s.dash?.length ? ` stroke-dasharray="${s.dash.join(" ")}"` : "") + (s.alpha !== undefined && s.alpha < 1 ? ` opacity="${s.alpha}"` : "");
  }

  rect(x: number, y: number, w: number, h: number, radius: number, s: Style) {
    this.parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${Math.min(radius, h / 2)}" ${this.style(s)}/>`);
  }

  line(p: number[], s: Style) {
    let d = `M${p[0]} ${p[1]}`;
    for (let i = 2; i < p.length; i += 2) {
      const middle = (p[i + 1] + p[i - 1]) / 2;
      d += p[i] === p[i - 2] ? `V${p[i + 1]}` : `C${p[i - 2]} ${middle} ${p[i]} ${middle} ${p[i]} ${p[i + 1]}`;
    }
    this.parts.push(`<path d="${d}" ${this.style(s)}/>`);
  }

  triangle(x: number, y: number, s: Style) {
    this.parts.push(`<path d="M${x} ${y}l-3.2 -6h6.4z" ${this.style(s)}/>`);
  }

  text(x: number, y: number, text: string, f: Font) {
    this.parts.push(`<text x="${x}" y="${y}" font-size="${f.size}" fill="${f.color}"` + (f.bold ? ' font-weight="bold"' : "") +
      (f.italic ? ' font-style="italic"' : "") + (f.middle ? ' text-anchor="middle"' : "") +
      (f.strike ? ' text-decoration="line-through"' : "") + `>${esc(text)}</text>`);
  }

  document(w: number, h: number, paper: string, title: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" font-family="${esc(family)}">\n` +
      `<title>${esc(title)}</title>\n<rect width="100%" height="100%" fill="${paper}"/>\n${this.parts.join("\n")}\n</svg>\n`;
  }
}
