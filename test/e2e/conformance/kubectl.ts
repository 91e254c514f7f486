import { execFile } from "node:child_process";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Runs kubectl of PATH, while this process continues: parts of a control plane may be in it. What it printed. */
export async function kubectl(kubeconfig: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, HOME: "/nonexistent" };
  const options = { env, maxBuffer: 16 * 1024 * 1024 };
  const { stdout } = await execute("kubectl", ["--kubeconfig", kubeconfig, ...args], options);
  return stdout;
}
