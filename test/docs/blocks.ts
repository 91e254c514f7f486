/** A fenced block of a tutorial that is run or written to a file. */
export interface Block {
  readonly line: number;
  readonly kind: "run" | "background" | "file";
  /**
   * For "run": each command with the texts that its output must have. For the others: the one command, or the content.
   */
  readonly commands: readonly Command[];
  readonly content: string;
  /** For "background": what the output has when the command is ready. */
  readonly until: string;
  /** For "file": its name. */
  readonly file: string;
  /** A program that must be installed, or a file that must exist; without it the block is left out. */
  readonly needs: string | undefined;
}

export interface Command {
  readonly command: string;
  readonly output: readonly string[];
}

/**
 * The blocks of a page: ```console (run), ```console background until="TEXT", ```console manual (not run), ```LANGUAGE
 * file=NAME.
 */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = page.split("\n");
  for (let i = 0; i < lines.length; i += 1) {
    const info = /^```(\S+)(.*)$/.exec(lines[i] ?? "");
    if (!info) continue;
    const start = i + 1;
    const end = lines.indexOf("```", start);
    if (end < 0) throw new Error(`line ${start}: the block has no end`);
    const block = blockOf({ language: info[1] ?? "", options: info[2] ?? "" }, lines.slice(start, end), start);
    if (block) blocks.push(block);
    i = end;
  }
  return blocks;
}

function blockOf(
  info: { language: string; options: string },
  lines: readonly string[],
  line: number,
): Block | undefined {
  const option = (name: string): string | undefined =>
    new RegExp(`${name}=(?:"([^"]*)"|(\\S+))`)
      .exec(info.options)
      ?.slice(1)
      .find((v) => v !== undefined);
  const block = { line, content: `${lines.join("\n")}\n`, until: option("until") ?? "", needs: option("needs") };
  const file = option("file");
  if (file !== undefined) return { ...block, kind: "file", commands: [], file };
  if (info.language !== "console" || / manual\b/.test(info.options)) return undefined;
  const kind = / background\b/.test(info.options) ? "background" : "run";
  return { ...block, kind, commands: commandsOf(lines), file: "" };
}

function commandsOf(lines: readonly string[]): Command[] {
  const commands: { command: string; output: string[] }[] = [];
  for (const line of lines) {
    if (line.startsWith("$ ")) commands.push({ command: line.slice(2), output: [] });
    else commands.at(-1)?.output.push(line.trim());
  }
  return commands;
}
