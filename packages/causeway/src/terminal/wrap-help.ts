/**
 * Breaks the paragraphs of a help text at the terminal's width. Lines that begin with a blank (options, examples) are
 * laid out already, and paragraphs that fit are, too: both remain as they are.
 */
export function wrapHelp(text: string, width: number): string {
  return paragraphsOf(text)
    .flatMap((lines) => (isLaidOut(lines, width) ? lines : wrapped(lines.join(" "), width)))
    .join("\n");
}

const isProse = (line: string): boolean => /^\S/.test(line);

/** Lines of prose that follow each other belong together; every other line is by itself. */
function paragraphsOf(text: string): string[][] {
  const paragraphs: string[][] = [];
  for (const line of text.split("\n")) {
    const before = paragraphs.at(-1);
    if (before && isProse(line) && isProse(before[0] ?? "")) before.push(line);
    else paragraphs.push([line]);
  }
  return paragraphs;
}

function isLaidOut(lines: readonly string[], width: number): boolean {
  return !isProse(lines[0] ?? "") || lines.every((line) => line.length <= width);
}

/** Breaks a paragraph at blanks; a word that is longer than a line keeps its own. */
export function wrapped(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of paragraph.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length <= width || line === "") line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return [...lines, line];
}
