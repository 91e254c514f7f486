import { join } from "node:path";
import { startProgram, type Started } from "../support/processes.ts";

/** A size of a terminal, as `stty size` prints it: rows and columns. */
export type Size = readonly [rows: number, columns: number];

/** A program on a terminal of its own. */
export interface Terminal extends Started {
  /** Gives the terminal another size, so that the program gets SIGWINCH. */
  resize(size: Size): void;
  /** Types a line and the return key. */
  type(line: string): void;
}

/** Starts a program on a terminal, by the program in Python next to this file. */
export function openTerminal([rows, columns]: Size, command: readonly string[]): Terminal {
  const program = join(import.meta.dirname, "terminal.py");
  const started = startProgram("python3", [program, `${rows}`, `${columns}`, ...command], { withInput: true });
  const order = (line: string): void => void started.child.stdin?.write(`${line}\n`);
  return { ...started, resize: (size) => order(`size ${size.join(" ")}`), type: (line) => order(`type ${line}`) };
}
