import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DOWNLOADS } from "./downloads.ts";
import { installedVersions, openPrograms, programNames } from "./programs.ts";

const signal = new AbortController().signal;
const script = (name: string) => `#!/bin/sh\necho ${name}\n`;
const sumOf = (text: string) => createHash("sha256").update(text).digest("hex");

describe("programs that are downloaded", () => {
  let [dir, base, requests] = ["", "", [] as string[]];
  let server: Server;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "downloads-"));
    requests = [];
    server = createServer((request, response) => {
      const name = (request.url ?? "").slice(1);
      requests.push(name);
      if (name === "moved") return response.writeHead(302, { location: "/etcd" }).end();
      if (name === "missing") return response.writeHead(404).end();
      if (name === "cut") {
        response.writeHead(200, { "content-length": "1000" }).write("#!");
        return response.destroy();
      }
      return response.end(script(name));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    rmSync(dir, { recursive: true, force: true });
  });

  const list = (changes: Record<string, { url: string; sha256: string }> = {}) => {
    const all = Object.fromEntries(
      programNames.map((name) => [name, { url: `${base}/${name}`, sha256: sumOf(script(name)) }]),
    );
    writeFileSync(join(dir, DOWNLOADS), JSON.stringify({ "v1.34.4": { ...all, ...changes } }));
  };

  test("are there once, can be run, and are offered before they are there", async () => {
    list({ etcd: { url: `${base}/moved`, sha256: sumOf(script("etcd")).toUpperCase() } });
    expect(installedVersions(dir)).toEqual(["v1.34.4"]);
    const programs = openPrograms(dir);
    const all = await Promise.all([programs.of("v1.34.4", signal), programs.of("v1.34.4", signal)]);
    expect(all).toEqual([join(dir, "v1.34.4"), join(dir, "v1.34.4")]);
    expect(readdirSync(join(dir, "v1.34.4"))).toEqual(programNames.toSorted());
    for (const name of programNames) expect(statSync(join(dir, "v1.34.4", name)).mode & 0o777).toBe(0o755);
    const before = requests.length;
    expect(before).toBe(5);
    await programs.of("v1.34.4", signal);
    expect(requests.length).toBe(before);
  });

  const wrong: [string, () => Record<string, { url: string; sha256: string }>, string][] = [
    ["another checksum", () => ({ etcd: { url: `${base}/etcd`, sha256: sumOf("x") } }), "PROCESS_CHECKSUM_DIFFERS"],
    ["no such file", () => ({ etcd: { url: `${base}/missing`, sha256: sumOf("x") } }), "PROCESS_DOWNLOAD_FAILED"],
    ["an end in the middle", () => ({ etcd: { url: `${base}/cut`, sha256: sumOf("#!") } }), "PROCESS_DOWNLOAD_FAILED"],
    ["no server", () => ({ etcd: { url: "http://127.0.0.1:1/etcd", sha256: sumOf("x") } }), "PROCESS_DOWNLOAD_FAILED"],
  ];
  test.each(wrong)("with %s leave nothing that could be run", async (_, changes, code) => {
    list(changes());
    await expect(openPrograms(dir).of("v1.34.4", signal)).rejects.toMatchObject({ code });
    expect(readdirSync(join(dir, "v1.34.4"))).toEqual([]);
  });

  test("of a list that cannot be read are refused with what is wrong", async () => {
    for (const text of [
      "{",
      "[]",
      '{"1.34": {}}',
      '{"v1.34.4": {"etcd": {"url": "file:///etc/passwd", "sha256": ""}}}',
    ]) {
      writeFileSync(join(dir, DOWNLOADS), text);
      await expect(openPrograms(dir).of("v1.34.4", signal)).rejects.toMatchObject({
        code: "PROCESS_DOWNLOADS_INVALID",
      });
    }
  });

  test("of a version that the list does not have are not installed", async () => {
    list();
    await expect(openPrograms(dir).of("v1.35.0", signal)).rejects.toMatchObject({
      code: "PROCESS_VERSION_NOT_INSTALLED",
    });
  });
});
