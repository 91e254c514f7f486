import type { OpenStackMachineSpec } from "@causeway/api";
import type { FloatingIp, Server } from "@causeway/openstack";
import { expect, test } from "vitest";
import { ModelCloud } from "../testing/model-cloud.ts";
import { openStackMachine } from "../testing/objects.ts";
import { listsToRefresh } from "./lists.ts";
import type { Observed } from "./model.ts";

const address = "172.24.4.50";
const onVolume: Partial<OpenStackMachineSpec> = { rootVolume: { sizeGiB: 10 } };

interface Given {
  readonly spec?: Partial<OpenStackMachineSpec>;
  readonly leaving?: boolean;
  /** The port that has the claimed address; undefined: no address was claimed. */
  readonly port?: string | null;
  /** Addresses that Nova lists. */
  readonly listed?: readonly string[];
}

function observed({ spec = {}, leaving = false, port, listed = [] }: Given): Observed {
  const object = openStackMachine(spec, leaving ? { deletionTimestamp: "2026-11-21T00:00:00Z" } : {});
  const server = { id: "s", addresses: { net: listed.map((addr) => ({ addr })) } } as unknown as Server;
  const ip = { floating_ip_address: address, port_id: port ?? null } as FloatingIp;
  return {
    object: { ...object, status: { instanceID: "s" } },
    clusterName: "demo",
    infrastructure: undefined,
    owner: undefined,
    paused: false,
    identity: { ok: true, cloud: { ...new ModelCloud().forMachine(), servers: [server], floatingIps: [ip] } },
    claim: port === undefined ? undefined : { address },
  };
}

test.each<[title: string, given: Given, waits: boolean, lists: readonly string[]]>([
  ["reads nothing for a machine at rest", {}, false, []],
  ["reads servers until Nova lists an attached floating IP", { port: "p" }, false, ["servers"]],
  ["reads no servers once Nova lists it", { port: "p", listed: [address] }, false, []],
  ["reads no servers for an address that is not attached", { port: null }, false, []],
  ["reads no servers for a machine that is being deleted", { port: "p", leaving: true }, false, []],
  ["reads volumes while a deleted machine waits for them", { spec: onVolume, leaving: true }, true, ["volumes"]],
  ["reads no volumes for a machine without them", { leaving: true }, true, []],
  ["reads no volumes while there are steps", { spec: onVolume, leaving: true }, false, []],
])("a plan of an OpenStackMachine %s", (_title, given, waits, lists) => {
  expect(listsToRefresh(observed(given), waits)).toEqual(lists);
});
