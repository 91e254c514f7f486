import type { MagnumCluster } from "@causeway/api";
import { expect, test } from "vitest";
import { withKubeletSource } from "./kubelet-source.ts";

const row = (kubeletSources?: readonly string[]) => ({ spec: { kubeletSources } }) as unknown as MagnumCluster;

test.for<[string, string, readonly string[] | undefined, readonly string[] | undefined]>([
  ["an address", "192.0.2.10", undefined, ["192.0.2.10/32"]],
  ["an address of IPv6 in brackets", "[2001:DB8::1]", undefined, ["2001:db8::1/128"]],
  ["an address after another one", "192.0.2.10", ["192.0.2.9/32"], ["192.0.2.9/32", "192.0.2.10/32"]],
  ["an address that the row has", "192.0.2.10", ["192.0.2.10/32"], ["192.0.2.10/32"]],
  ["a name, which no rule can have", "mgmt.example.org", undefined, undefined],
  ["an address of this machine alone", "127.0.0.1", undefined, undefined],
])("a peer host that is %s gives a row these sources of connections to kubelets", ([, host, before, after]) => {
  const given = row(before);
  const found = withKubeletSource(given, host);
  expect(found.spec.kubeletSources).toEqual(after);
  expect(found === given).toBe(before?.length === after?.length);
});
