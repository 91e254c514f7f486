/** The file by which nodes reach a template's insecure registry, as a real containerd reads it. Needs root. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { MagnumCluster } from "@causeway/api";
import { createAuthority, issueCertificate } from "@causeway/foundation";
import { registryBootstrap } from "@causeway/magnum-api/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";

const isHere = process.getuid?.() === 0 && spawnSync("containerd", ["--version"]).error === undefined;
const digestOf = (bytes: Buffer): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** An image without files, as a registry serves it. */
function imageServer(): RequestListener {
  const tar = Buffer.alloc(1_024);
  const layer = gzipSync(tar);
  const config = Buffer.from(
    JSON.stringify({ architecture: "amd64", os: "linux", rootfs: { type: "layers", diff_ids: [digestOf(tar)] } }),
  );
  const type = (of: string) => `application/vnd.oci.image.${of}`;
  const descriptor = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: digestOf(bytes), size: bytes.length });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: type("manifest.v1+json"),
      config: descriptor(type("config.v1+json"), config),
      layers: [descriptor(type("layer.v1.tar+gzip"), layer)],
    }),
  );
  const blobs = new Map([manifest, config, layer].map((bytes) => [digestOf(bytes), bytes]));
  return ({ url = "", method }, response) => {
    const reference = url.split("?")[0]?.split("/").at(-1) ?? "";
    const bytes = reference === "1" ? manifest : blobs.get(reference);
    if (bytes === undefined) return response.writeHead(url === "/v2/" ? 200 : 404).end();
    response.writeHead(200, {
      "content-type": bytes === manifest ? type("manifest.v1+json") : "application/octet-stream",
      "content-length": bytes.length,
      "docker-content-digest": digestOf(bytes),
    });
    return response.end(method === "HEAD" ? undefined : bytes);
  };
}

describe.skipIf(!isHere)("an insecure registry of a template", () => {
  let dir: string;
  let containerd: ChildProcess;
  const closing: (() => unknown)[] = [];
  const socket = () => join(dir, "containerd.sock");

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "node-registry-"));
    const config = `version = 2
root = "${dir}/root"
state = "${dir}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "${socket()}"
`;
    writeFileSync(join(dir, "config.toml"), config);
    containerd = spawn("containerd", ["--config", join(dir, "config.toml"), "--log-level", "error"], {
      stdio: "ignore",
    });
    await eventually(60_000, () => existsSync(socket()) && ctr("version").status === 0);
  });
  afterAll(async () => {
    for (const close of closing) close();
    const gone = once(containerd, "exit");
    if (containerd.exitCode === null && containerd.kill("SIGTERM")) await gone;
    rmSync(dir, { recursive: true, force: true });
  });

  const ctr = (...args: string[]) => spawnSync("ctr", ["--address", socket(), ...args], { encoding: "utf8" });

  async function serve(isTls: boolean): Promise<string> {
    const authority = await createAuthority({ commonName: "unknown to nodes", lifetime: 86_400_000 });
    const pair = await issueCertificate(authority, { commonName: "r", usages: ["server"], lifetime: 86_400_000 });
    const server = isTls
      ? createTlsServer({ key: pair.key, cert: pair.certificate }, imageServer())
      : createServer(imageServer());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** Writes the nodes' file below a folder of the test's; the folder. */
  function writeFiles(insecureRegistry: string): string {
    const spec = { nodeRegistry: true, template: { insecureRegistry } };
    const [file] = registryBootstrap({ spec } as unknown as MagnumCluster)?.files ?? [];
    const path = join(dir, file?.path ?? "");
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file?.content ?? "");
    return join(dir, "etc/containerd/certs.d");
  }

  /** Without the unpacking of a pull. */
  const fetched = (registry: string, folder: string) =>
    new Promise<{ code: number | null; text: string }>((done) => {
      const args = ["--address", socket(), "content", "fetch", "--hosts-dir", folder, `${registry}/tiny:1`];
      const child = spawn("ctr", args, { stdio: ["ignore", "pipe", "pipe"] });
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
      child.on("close", (code) => done({ code, text }));
    });

  test.for<[string, boolean]>([
    ["with a certificate that nodes do not know", true],
    ["without TLS", false],
  ])("%s serves an image to a node with its file, by name and port", async ([, isTls]) => {
    const registry = await serve(isTls);
    const folder = writeFiles(registry);
    const { code, text } = await fetched(registry, folder);
    expect([code, text]).toEqual([0, expect.stringContaining("tiny:1")]);
    expect(readFileSync(join(folder, registry, "hosts.toml"), "utf8")).toContain(registry);
  });

  test("with a certificate that nodes do not know serves none to a node without its file", async () => {
    const registry = await serve(true);
    const { code, text } = await fetched(registry, join(dir, "empty"));
    expect([code, text]).toEqual([1, expect.stringContaining("failed to resolve reference")]);
  });
});
