import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fitsUnixSocket, isServed, removeStaleSocket } from "./unix-socket.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "socket-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

test("a server on a Unix socket removes the socket of a process that was killed, and keeps one that is served", async () => {
  const path = join(dir, "a.sock");
  const listen = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`;
  expect(() => execFileSync(process.execPath, ["-e", listen], { stdio: "ignore" })).toThrow();
  expect([existsSync(path), await isServed(path)]).toEqual([true, false]);
  expect(await removeStaleSocket(path)).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  expect(await removeStaleSocket(path)).toBe("another process serves it");
  expect(existsSync(path)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
});

test("a server on a Unix socket keeps a file that is not a socket", async () => {
  const path = join(dir, "file");
  writeFileSync(path, "text");
  expect(await removeStaleSocket(path)).toBe("it is not a socket");
  expect(existsSync(path)).toBe(true);
});

test.each([
  [`/${"a".repeat(106)}`, true],
  [`/${"a".repeat(107)}`, false],
  [`/${"ä".repeat(53)}`, true],
  [`/${"ä".repeat(54)}`, false],
])("a server on a Unix socket counts the bytes of a socket's path: %s", (path, fits) =>
  expect(fitsUnixSocket(path)).toBe(fits),
);
