/** The exporter of Open vSwitch and OVN, for its tests. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { succeeds } from "./commands.ts";

const program = join(import.meta.dirname, "../../programs/ovn-exporter.py");
export const hasPython = succeeds("python3", "-c", "");

/** Runs Python that has the exporter's names as `e`. */
export function runExporter(text: string, env: Record<string, string> = {}): string {
  const load = `import importlib.util, json, sys; sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("e", ${JSON.stringify(program)}); e = importlib.util.module_from_spec(spec); spec.loader.exec_module(e)
${text}`;
  return execFileSync("python3", ["-c", load], { encoding: "utf8", env: { ...process.env, ...env } });
}

/** The samples of a page of metrics, without comments. */
export const values = (text: string): string[] =>
  text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
