import htm from "htm";
import { h } from "preact";

/** Tagged templates in place of JSX. What goes into one is text, never markup. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: any[]) => any;
