/**
 * What kubectl does on pods of real nodes, through the tunnel: followed logs, terminals, copies of 1 GiB, clients that
 * vanish, and a webhook whose Service is in the tenant.
 */
import { execFileSync } from "node:child_process";
import { createHash, randomFillSync } from "node:crypto";
import { createReadStream, openSync, closeSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createAuthority } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, type Started } from "../support/processes.ts";
import { realNodes, requestsTo, type RealNode } from "./kubelet.ts";
import { IMAGE, startRig, type Rig } from "./rig.ts";
import { apiClient, DENIED, JUDGED, middleOf, PLAIN, startWebhook, tryConfigMap } from "./webhook.ts";
import { openTerminal, type Size } from "./terminal.ts";

const TIMEOUT = 10 * 60_000;
/** A client that vanished has left nothing after so many milliseconds. */
const LEFT = 5_000;
/** What `kubectl cp` copies each way, in MiB. */
const MIB = Number(process.env["CAUSEWAY_NODES_MIB"] ?? 1024);
const isOverlay = process.env["CAUSEWAY_NODES_OVERLAY"] !== undefined;

describe("kubectl on pods of real nodes, through the tunnel", () => {
  let rig: Rig;
  let nodes: readonly RealNode[] = [];

  /** The node of a pod. */
  const nodeOf = (pod: string): RealNode => {
    const name = rig.workload("get", "pod", pod, "-o", "jsonpath={.spec.nodeName}");
    const node = nodes.find((each) => each.name === name);
    if (node === undefined) throw new Error(`pod ${pod} is on ${name}`);
    return node;
  };

  /** Milliseconds until a node's kubelet serves as few clients as before. */
  async function cleared(count: () => Promise<number>, before: number): Promise<number> {
    const start = performance.now();
    await eventually(TIMEOUT, async () => (await count()) <= before);
    return Math.round(performance.now() - start);
  }

  beforeAll(async () => {
    rig = await startRig({ overlay: isOverlay });
    nodes = realNodes(rig);
    // The time since the host's boot, which a reader of the output on the same host compares.
    rig.apply(
      pod("clock", { command: ["sh", "-c", "while :; do read up rest </proc/uptime; echo $up; usleep 100000; done"] }),
    );
    rig.apply(pod("quiet", { command: ["sh", "-c", "echo begins; exec sleep 36000"] }));
    rig.apply(pod("terminal", { command: ["sh"], stdin: true, tty: true }));
    rig.apply(pod("files", { command: ["httpd", "-f", "-p", "8080", "-h", "/tmp"] }));
    rig.workload("wait", "pod", "--all", "--for=condition=Ready", "--timeout=600s");
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("this host, on which the API server runs, has no route to the nodes but the default one", () => {
    for (const { address } of nodes) {
      const routes = execFileSync("ip", ["route", "show", "match", address], { encoding: "utf8" });
      expect(routes.split("\n").filter((line) => line !== "" && !line.startsWith("default "))).toEqual([]);
    }
  });

  test("followed logs arrive line by line while they are written", async () => {
    const follow = rig.start("logs", "-f", "clock", "--tail=1");
    try {
      const delays: number[] = [];
      follow.child.stdout?.on("data", (chunk: Buffer) => {
        const now = uptime();
        for (const line of chunk.toString().trim().split("\n")) delays.push(Math.round((now - Number(line)) * 1_000));
      });
      await eventually(TIMEOUT, () => delays.length > 100);
      // The first line was written before the client came.
      const sorted = delays.slice(1, 101).toSorted((a, b) => a - b);
      console.log(
        `logs -f: 100 lines, each read ${sorted[49]} ms (median) and ${sorted[98]} ms (99 %) after it was written`,
      );
      expect(sorted[49]).toBeLessThan(1_000);
    } finally {
      await follow.stop();
    }
  });

  test.each(["SIGINT", "SIGKILL"] as const)(
    "a client of followed logs that ends by %s leaves no request",
    async (signal) => {
      for (const name of ["clock", "quiet"]) {
        const count = () => requestsTo(rig, nodeOf(name), "containerLogs");
        const before = await count();
        const follow = rig.start("logs", "-f", name);
        await follow.until(/\n/);
        await eventually(TIMEOUT, async () => (await count()) > before);
        await follow.stop(signal);
        const time = await cleared(count, before);
        console.log(`logs -f ${name} ended by ${signal}: no request at the kubelet after ${time} ms`);
        expect(time).toBeLessThan(LEFT);
      }
    },
  );

  test.each([
    ["exec", "quiet", ["exec", "quiet", "--", "sh", "-c", "echo begins; exec sleep 36000"], /begins/],
    ["attach", "clock", ["attach", "clock"], /\d/],
    ["portForward", "files", ["port-forward", "pod/files", ":8080"], /127\.0\.0\.1:(\d+) ->/],
  ] as const)("a client of %s that is killed leaves no request", async (path, name, args, first) => {
    const count = () => requestsTo(rig, nodeOf(name), path);
    const before = await count();
    const client = rig.start(...args);
    const [, port] = first.exec(await client.until(first)) ?? [];
    if (port !== undefined) expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404);
    await begun(client, async () => (await count()) > before);
    await client.stop("SIGKILL");
    const time = await cleared(count, before);
    console.log(`${path} ended by SIGKILL: no request at the kubelet after ${time} ms`);
    expect(time).toBeLessThan(LEFT);
  });

  test.each([
    ["exec", ["exec", "-it", "quiet", "--", "sh"], "exit 7", 7],
    ["attach", ["attach", "-it", "terminal"], "exit 0", 0],
  ] as const)(
    "a terminal of %s follows the size of the client's, and has the exit code",
    async (_verb, args, exit, code) => {
      const sizes: readonly Size[] = [
        [24, 80],
        [40, 132],
        [7, 33],
      ];
      const terminal = openTerminal(sizes[0] ?? [24, 80], ["kubectl", "--kubeconfig", rig.kubeconfig, ...args]);
      try {
        for (const size of sizes) {
          terminal.resize(size);
          await eventually(TIMEOUT, async () => {
            terminal.type("stty size");
            return terminal.until(new RegExp(`^${size.join(" ")}\r$`, "m"), 2_000);
          });
        }
        terminal.type(exit);
        expect(await terminal.ended).toBe(code);
      } finally {
        await terminal.stop();
      }
    },
  );

  test(`cp copies ${MIB} MiB into a container and out of it, and a forwarded port serves them`, async () => {
    const [there, back] = [join(rig.dir, "there"), join(rig.dir, "back")];
    const digest = writeRandom(there, MIB);
    const timed = async (what: string, act: () => Promise<unknown>) => {
      const start = performance.now();
      await act();
      console.log(`${what}: ${MIB} MiB in ${((performance.now() - start) / 1_000).toFixed(1)} s`);
    };
    await timed("cp into the container", () => done(rig.start("cp", there, "files:/tmp/file")));
    rmSync(there);
    expect(rig.workload("exec", "files", "--", "sha256sum", "/tmp/file").split(" ")[0]).toBe(digest);
    await timed("cp out of the container", () => done(rig.start("cp", "files:/tmp/file", back)));
    expect(await digestOf(createReadStream(back))).toBe(digest);
    rmSync(back);
    const forward = rig.start("port-forward", "pod/files", ":8080");
    try {
      const [, port] = /127\.0\.0\.1:(\d+) ->/.exec(await forward.until(/127\.0\.0\.1:\d+ ->/)) ?? [];
      await timed("a forwarded port", async () => {
        const { body } = await fetch(`http://127.0.0.1:${port}/file`, { headers: { connection: "close" } });
        expect(await digestOf(body ?? [])).toBe(digest);
      });
    } finally {
      await forward.stop();
    }
    rig.workload("exec", "files", "--", "rm", "/tmp/file");
  });

  test("a webhook of the tenant is called with TLS that is verified, and adds less than 20 ms", async () => {
    const webhook = await startWebhook(rig);
    const client = apiClient(rig);
    try {
      await eventually(TIMEOUT, () => tryConfigMap(client, JUDGED).then(() => true));
      await expect(tryConfigMap(client, JUDGED, DENIED)).rejects.toThrow(/unwanted key and value/);
      await tryConfigMap(client, PLAIN, DENIED);
      await eventually(TIMEOUT, async () => {
        const { judged, plain } = await middleOf(client, 100);
        console.log(
          `100 calls with the webhook and 100 without it, p50: ${judged.toFixed(1)} and ${plain.toFixed(1)} ms`,
        );
        // Of several rounds one, for another program may have the processor.
        return judged - plain < 20;
      });
      webhook.believe(await createAuthority({ commonName: "webhook-ca", lifetime: 86_400_000 }));
      // Calls may fail for other reasons before the change is known everywhere.
      await eventually(TIMEOUT, () => tryConfigMap(client, JUDGED).then(() => false, isRefusal));
      webhook.believe(webhook.authority);
      await eventually(TIMEOUT, () => tryConfigMap(client, JUDGED).then(() => true));
    } finally {
      await client.close();
    }
  });
});

/** Seconds since this host's boot. */
const uptime = () => Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);

/** The API server does not believe the webhook's certificate. */
const isRefusal = (error: unknown) => /certificate/.test(String(error));

/** Waits until a client has begun, which must not end before. */
async function begun(client: Started, check: () => Promise<boolean>): Promise<void> {
  const end = client.ended.then(() => {
    throw new Error(`the client ended by itself: ${client.output().slice(-1_000)}`);
  });
  await Promise.race([eventually(TIMEOUT, check), end]);
}

/** Waits for a program, which must succeed. */
async function done(program: Started): Promise<void> {
  const code = await program.ended;
  expect(code, program.output()).toBe(0);
}

/** Writes so many MiB that do not compress; their SHA-256. */
function writeRandom(file: string, mebibytes: number): string {
  const hash = createHash("sha256");
  const target = openSync(file, "w", 0o600);
  const block = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < mebibytes; i += 1) {
    randomFillSync(block);
    hash.update(block);
    writeSync(target, block);
  }
  closeSync(target);
  return hash.digest("hex");
}

async function digestOf(stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}

function pod(name: string, container: object): object {
  const containers = [{ name: "main", image: IMAGE, ...container }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { terminationGracePeriodSeconds: 1, containers } };
}
