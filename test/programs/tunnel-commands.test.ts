/**
 * `causeway run tunnel-server` and `causeway run tunnel-agent` as processes: stopped and killed while streams are open.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { afterEach, expect, test, vi } from "vitest";
import { freePorts } from "../support/free-ports.ts";
import { launch, type RunningProgram } from "./run.ts";
import { address, dialThrough } from "./tunnel-stage.ts";

vi.setConfig({ testTimeout: 180_000 });
const main = resolve(import.meta.dirname, "../../packages/causeway/src/main.ts");
const year = 365 * 86_400_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A command, written with single spaces between its words. */
function command(text: string): RunningProgram {
  const running = launch(process.execPath, [main, "run", ...text.split(" ")]);
  closers.push(() => {
    running.child.kill("SIGKILL");
    return running.ended;
  });
  return running;
}

test("a server keeps an open stream while it shuts down, and an agent returns after a kill of the server", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tunnel-commands-"));
  closers.push(() => rmSync(dir, { recursive: true, force: true }));
  const authority = await createAuthority({ commonName: "tunnel-ca", lifetime: year });
  const names = { commonName: "tunnel", ipAddresses: ["127.0.0.1"], lifetime: year };
  const pair = await issueCertificate(authority, { ...names, usages: ["server", "client"] });
  const uds = join(dir, "front.sock");
  const tenant = { name: "a", udsName: uds, agentCaCert: join(dir, "ca"), allow: [`${address}/32`] };
  writeFileSync(join(dir, "ca"), authority.certificate);
  writeFileSync(join(dir, "crt"), pair.certificate);
  writeFileSync(join(dir, "key"), pair.key, { mode: 0o600 });
  writeFileSync(join(dir, "tenants.yaml"), JSON.stringify({ tenants: [tenant] }));
  const [port = 0] = await freePorts(1);
  const serve = (): RunningProgram =>
    command(
      `tunnel-server --tenants ${dir}/tenants.yaml --agent-port ${port} --health-port 0 --admin-port 0 --cluster-cert ${dir}/crt --cluster-key ${dir}/key --drain-timeout 1m`,
    );
  const first = serve();
  command(
    `tunnel-agent --proxy-server-host 127.0.0.1 --proxy-server-port ${port} --ca-cert ${dir}/ca --agent-cert ${dir}/crt --agent-key ${dir}/key --health-server-port 0 --admin-server-port 0 --allow-cidr ${address}/32 --sync-interval 200ms`,
  );
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((done) => echo.listen(0, address, done));
  closers.push(() => echo.close());
  const target = (echo.address() as AddressInfo).port;
  const dialled = (): Promise<Socket> =>
    vi.waitFor(
      async () => {
        const socket = await dialThrough(uds, target);
        if (!socket) throw new Error("no connection through the tunnel");
        return socket;
      },
      { timeout: 60_000, interval: 100 },
    );

  const before = await dialled();
  first.child.kill("SIGKILL");
  await first.ended;
  const left = await before.toArray().catch(() => []);
  expect(left).toEqual([]);
  const second = serve();
  const open = await dialled();
  second.child.kill("SIGTERM");
  await vi.waitFor(async () => expect(await dialThrough(uds, target)).toBeUndefined(), {
    timeout: 20_000,
    interval: 200,
  });
  open.end("last words");
  expect((await open.toArray()).join("")).toBe("last words");
  // The status of each command that a SIGTERM ended.
  expect((await second.ended).code).toBe(143);
});

test("a server refuses flags that cannot be used, with the reason", async () => {
  const { code, stderr } = await command("tunnel-server --uds-name /tmp/none.sock --allow-cidr 10.0.0.0/33").ended;
  expect(code).not.toBe(0);
  expect(stderr).toContain('"10.0.0.0/33" is not a CIDR');
});
