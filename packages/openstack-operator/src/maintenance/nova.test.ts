import type { Cloud } from "@causeway/openstack";
import { expect, test } from "vitest";
import { novaOf } from "./nova.ts";

test("a cell that cannot be read has computes that are known by their hosts alone", async () => {
  const known = { id: "1", host: "a", zone: "nova", state: "up", status: "disabled", disabled_reason: "why" };
  const all = [known, { binary: "nova-compute", host: "b", status: "UNKNOWN" }];
  const cloud = { compute: { hosts: { all: () => Promise.resolve(all) } } } as unknown as Cloud;
  const services = await novaOf(cloud).services(new AbortController().signal);
  expect(services).toMatchObject([
    { host: "a", isUp: true, isEnabled: false, reason: "why" },
    { host: "b", isUnknown: true },
  ]);
  expect(services[0]?.isUnknown).toBeUndefined();
});

/** Placement refuses to delete a provider while an evacuated server has something allocated there; Nova does both. */
test("a host that was removed leaves by Nova, which frees what evacuated servers still have there", async () => {
  const calls: string[] = [];
  let providers = [{ uuid: "p", allocations: 1 }];
  const cloud = {
    network: { agents: { delete: (id: string) => Promise.resolve(void calls.push(`agent ${id}`)) } },
    compute: {
      hosts: {},
      servers: {},
      serverActions: {},
      deleteHost: (id: string) => {
        calls.push(`service ${id}`);
        providers = [];
        return Promise.resolve();
      },
    },
    placement: {
      resourceProviders: {
        all: () => Promise.resolve(providers),
        delete: (uuid: string) => Promise.reject(new Error(`409: provider ${uuid} has allocations`)),
      },
    },
  } as unknown as Cloud;
  await novaOf(cloud).remove("gone", "s", ["a", "b"], new AbortController().signal);
  expect(calls).toEqual(["agent a", "agent b", "service s"]);
});
