/** Programs in containers, with all of their output. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { text } from "node:stream/consumers";

/** Says at its end how the program ended, and remains until that was read. */
const WRAPPER = `"$@" </dev/null; printf '%s %s\\n' "$0" "$?"; exec cat >/dev/null`;

/**
 * Runs a program in a container; what it printed. `ctr tasks exec` drops what it has not read of the output when its
 * process ends: this process ends only after the last line was read. Throws where the program fails or is ended.
 */
export async function execInContainer(ctr: readonly string[], id: string, command: readonly string[]): Promise<string> {
  const mark = `end-${randomUUID()}`;
  const [file = "", ...args] = [...ctr, "tasks", "exec", "--exec-id", mark, id, "sh", "-c", WRAPPER, mark, ...command];
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {});
  const errors = text(child.stderr);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  let output = "";
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (chunk: string) => {
    output += chunk;
    if (output.endsWith("\n") && output.lastIndexOf(mark) >= 0) child.stdin.end();
  });
  const status = await ended;
  const at = output.lastIndexOf(mark);
  const printed = at < 0 ? output : output.slice(0, at);
  const code = at < 0 ? undefined : output.slice(at + mark.length).trim();
  if (code === "0") return printed;
  const how = code === undefined ? `was ended: ctr said ${status}` : `ended with ${code}`;
  throw new Error(`${command.join(" ")} ${how}: ${(await errors).slice(-2000)} ${printed.slice(-2000)}`);
}
