/**
 * Events of the audit as a consumer made of pycadf reads them (tools/pycadf). Without Debian's pycadf it is skipped.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { MagnumCluster } from "@causeway/api";
import type { Audited } from "../audit-event.ts";
import { notificationOf } from "./cadf.ts";

const PYTHON = "/usr/bin/python3";
const hasPycadf = spawnSync(PYTHON, ["-c", "import pycadf"]).status === 0;
const program = join(import.meta.dirname, "../../../../tools/pycadf/consume.py");

const consume = (notifications: readonly object[]): string[] => {
  const input = notifications.map((each) => `${JSON.stringify(each)}\n`).join("");
  const { stdout, stderr, status } = spawnSync(PYTHON, [program], { input, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim().split("\n");
};

const uuid = "5d12f6fd-a196-4bf0-ae4c-1f639a523a52";
const cluster = {
  metadata: { name: "web-1", creationTimestamp: "2026-11-01T12:00:00Z" },
  spec: { uuid, name: "web", projectID: "p", template: {}, labels: { kube_tag: "v1.34.0" }, nodeGroups: [] },
} as unknown as MagnumCluster;
const caller = { userId: "u", projectId: "p", domainId: "d" };

it.runIf(hasPycadf)("a consumer made of pycadf reads every kind of event, and writes it again as it is", () => {
  const all: readonly Audited[] = [
    { action: "create", outcome: "pending", cluster, caller },
    { action: "create", outcome: "success", cluster },
    { action: "update", outcome: "failure", cluster, caller, refusedWith: 409 },
    { action: "delete", outcome: "success", cluster },
    { action: "create", outcome: "failure", caller, refusedWith: 403 },
  ];
  const notifications = all.map((each) => notificationOf(each, Date.UTC(2026, 10, 1), "host"));
  const ids = notifications.map(({ payload }) => (payload as { target: { id: string } }).target.id);
  expect(ids.slice(0, 4)).toEqual([uuid, uuid, uuid, uuid]);
  expect(consume(notifications)).toEqual(
    all.map(({ action, outcome }, at) => `magnum.cluster.${action} ${action} ${outcome} ${ids[at]}`),
  );
});

it.runIf(hasPycadf)("pycadf refuses an event that is not one of CADF's", () => {
  const good = notificationOf({ action: "create", outcome: "pending", cluster, caller }, 0, "host");
  const payload = good["payload"] as Readonly<Record<string, unknown>>;
  const wrong = [{ outcome: "perhaps" }, { eventTime: "yesterday" }, { target: { id: uuid } }, { extra: 1 }];
  const lines = consume(wrong.map((change) => ({ ...good, payload: { ...payload, ...change } })));
  expect(lines.map((line) => line.startsWith("refused: "))).toEqual([true, true, true, true]);
});
