/** What tests with real programs share: which are installed, and ports for them. */
import { spawnSync } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";

/** Whether a command is installed. */
export const isInstalled = (name: string): boolean => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/** Whether a command ends with success. */
export const succeeds = (...command: readonly string[]): boolean =>
  spawnSync(command[0] ?? "", command.slice(1)).status === 0;

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((done) =>
    server.listen(0, "127.0.0.1", () => done((server.address() as AddressInfo).port)),
  );
  await new Promise((done) => server.close(done));
  return port;
}
