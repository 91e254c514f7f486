import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApiServer } from "../start.ts";
import type { ApiServer } from "../interface.ts";
import { at, text, type Json } from "../json/json.ts";
import { rawClient, type Raw } from "../testing/client.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const COUNT = 24;
const TIMEOUT = 60_000;
const PAD = "x".repeat(900_000);

/** More than any watcher may have waiting for it. */
describe("watches of 20 MB and more", () => {
  let server: ApiServer;
  let api: Raw;
  let before: string;
  const nameOf = (event: Json): string => text(at(event, "object", "metadata", "name"));
  const big = (n: number): Json => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `big-${String(n).padStart(2, "0")}` },
    data: { pad: PAD },
  });
  const names = Array.from({ length: COUNT }, (_, n) => text(at(big(n), "metadata", "name")));

  beforeAll(async () => {
    server = await startApiServer();
    api = await rawClient(server.management);
    before = text(at((await api.call("GET", PATH)).body, "metadata", "resourceVersion"));
    for (let n = 0; n < COUNT; n += 1) expect((await api.call("POST", PATH, big(n))).code).toBe(201);
  }, TIMEOUT);
  afterAll(async () => {
    api.close();
    await server.close();
  });

  it(
    "send what exists, whole and in order, and then what changes",
    async () => {
      const events = await api.events(
        `${PATH}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        COUNT + 2,
        TIMEOUT,
      );
      expect(events.slice(0, COUNT).map(nameOf)).toEqual(["kube-root-ca.crt", ...names].toSorted().slice(0, COUNT));
      expect(events.at(-1)?.["type"]).toBe("BOOKMARK");
    },
    TIMEOUT,
  );

  it(
    "send all events since a revision",
    async () => {
      const events = await api.events(`${PATH}?watch=1&resourceVersion=${before}`, COUNT, TIMEOUT);
      expect(events.map(nameOf)).toEqual(names);
    },
    TIMEOUT,
  );
});
