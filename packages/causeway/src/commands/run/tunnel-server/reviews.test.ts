import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetrics, silentLog, type LogFields } from "@causeway/foundation";
import { expect, test } from "vitest";
import { createReviews } from "./reviews.ts";

test("reviews tokens with what the kubeconfig has at that time, and while it is being written with what it had", async () => {
  let accepted = "old";
  const server = createServer((request, response) => {
    request.resume();
    const isKnown = request.headers.authorization === `Bearer ${accepted}`;
    const user = { username: "system:serviceaccount:kube-system:agent" };
    response.writeHead(isKnown ? 201 : 401, { "Content-Type": "application/json" });
    response.end(JSON.stringify(isKnown ? { status: { authenticated: true, user } } : { kind: "Status", code: 401 }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const dir = mkdtempSync(join(tmpdir(), "reviews-"));
  const kubeconfig = join(dir, "kubeconfig");
  const write = (token: string) => {
    const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "a", cluster }],
      users: [{ name: "a", user: { token } }],
      contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
      "current-context": "a",
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
  };
  const logged: string[] = [];
  const note = (level: string) => (message: string, fields?: LogFields) =>
    void logged.push(
      `${level}: ${/can be|cannot be/.exec(message)?.[0] ?? message} ${JSON.stringify(fields?.["failures"]) ?? ""}`.trim(),
    );
  const log = { ...silentLog, warn: note("warn"), info: note("info") };
  const reviews = createReviews({ metrics: createMetrics(), log });
  try {
    const rules = { kubeconfig, namespace: "kube-system", serviceAccount: "agent", audience: "" };
    expect(() => reviews.reviewer(rules)).toThrow(/no kubeconfig/);
    write("old");
    const review = reviews.reviewer(rules);
    if (review === undefined) throw new Error("there is no review");
    const { signal } = new AbortController();
    expect(await review("x", signal)).toBeUndefined();
    writeFileSync(kubeconfig, "{");
    expect(await review("x", signal)).toBeUndefined();
    // It is not complete for a moment: only what lasts is logged, and less and less often.
    expect(logged).toEqual([]);
    for (let i = 0; i < 8; i += 1) expect(await review("x", signal)).toBeUndefined();
    expect(logged).toEqual(["warn: cannot be 2", "warn: cannot be 4", "warn: cannot be 8"]);
    // The authority of the old credentials is retired.
    accepted = "new";
    write("new");
    expect(await review("x", signal)).toBeUndefined();
    expect(logged.slice(3)).toEqual(["info: can be"]);
  } finally {
    await reviews.close();
    server.close();
    rmSync(dir, { recursive: true });
  }
});
