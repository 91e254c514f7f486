import { expect, test } from "vitest";
import { openStackCluster, openStackMachine } from "../testing/objects.ts";
import { usedClaim } from "./floating-ip.ts";
import type { Observed } from "./model.ts";
import { credentialsOf } from "./prerequisites.ts";

const own = { identityRef: { name: "own", cloudName: "own" } };
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const cluster = openStackCluster();
const ready: Pick<Observed, "owner" | "infrastructure" | "clusterName"> = {
  clusterName: "demo",
  owner: { name: "demo-workers-abcde", bootstrapSecret: "boot" },
  infrastructure: { ...cluster, status: { initialization: { provisioned: true } } },
};
const nothing: typeof ready = { clusterName: undefined, owner: undefined, infrastructure: undefined };
const waits = { ok: false, reason: "Waiting", message: "Not needed yet" };

test.each<[title: string, spec: object, metadata: object, given: typeof ready, expected: object]>([
  ["its cluster's credentials", {}, {}, ready, { ok: true, reference: cluster.spec.identityRef }],
  ["its own credentials rather than its cluster's", own, {}, ready, { ok: true, reference: own.identityRef }],
  ["none before its Machine owns it", own, {}, nothing, waits],
  ["none before its bootstrap data is there", {}, {}, { ...ready, owner: { name: "w" } }, waits],
  [
    "its own credentials for its deletion, whatever is missing",
    own,
    deleted,
    nothing,
    { ok: true, reference: own.identityRef },
  ],
  [
    "none where its cluster is gone",
    {},
    deleted,
    nothing,
    expect.objectContaining({ ok: false, reason: "InvalidIdentity" }) as object,
  ],
])("a machine uses %s", (_title, spec, metadata, given, expected) => {
  expect(credentialsOf({ ...given, object: openStackMachine(spec, metadata) })).toEqual(expected);
});

test.each<[title: string, machine: object, claim: object | undefined, expected: object | undefined]>([
  ["has no claim where none exists", {}, undefined, undefined],
  ["uses its claim", {}, {}, { address: "203.0.113.7" }],
  ["does not use a claim that is being deleted", {}, deleted, undefined],
  ["that is being deleted, too, still has its claim", deleted, deleted, { address: "203.0.113.7" }],
])("a machine %s", (_title, metadata, claim, expected) => {
  const object = openStackMachine({}, metadata);
  const found = claim && {
    apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
    kind: "IPAddressClaim",
    metadata: { name: `${object.metadata.name}-floating-ip-address`, ...claim },
    spec: { poolRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackFloatingIPPool", name: "pool" } },
  };
  expect(usedClaim(object, found, "203.0.113.7")).toEqual(expected);
});
