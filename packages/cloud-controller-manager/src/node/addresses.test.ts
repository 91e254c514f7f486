import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Port, Server } from "@causeway/openstack";
import { defaultCloudConfig, type NetworkingConfig } from "../config/config.ts";
import { aServer } from "../testing/objects.ts";
import { nodeAddresses } from "./addresses.ts";

const fixed = (addr: string) => ({
  addr,
  version: addr.includes(":") ? (6 as const) : (4 as const),
  "OS-EXT-IPS:type": "fixed" as const,
});
const floating = (addr: string) => ({ ...fixed(addr), "OS-EXT-IPS:type": "floating" as const });

function aPort(address: string, status: Port["status"] = "ACTIVE"): Port {
  return {
    id: address,
    name: "",
    description: "",
    project_id: "p",
    network_id: "n",
    status,
    admin_state_up: true,
    mac_address: "",
    fixed_ips: [{ subnet_id: "s", ip_address: address }],
    device_id: "n1",
    device_owner: "compute:nova",
    security_groups: [],
    allowed_address_pairs: [],
    tags: [],
  };
}

interface Given {
  readonly addresses?: Server["addresses"];
  readonly ports?: readonly Port[];
  readonly networking?: Partial<NetworkingConfig>;
  readonly server?: Partial<Server> & { accessIPv4?: string };
}

function addressesOf({ addresses = {}, ports = [], networking = {}, server = {} }: Given): string[] {
  const config = { ...defaultCloudConfig().networking, ...networking };
  return nodeAddresses({ server: aServer("n1", { addresses, ...server }), ports }, config).map(
    (a) => `${a.type} ${a.address}`,
  );
}

describe("the addresses of a Node", () => {
  test.each<[string, Given, string[]]>([
    [
      "are those of ACTIVE ports in Neutron's order, without those that the server repeats",
      { ports: [aPort("10.0.0.9"), aPort("10.0.0.2")], addresses: { lan: [fixed("10.0.0.2"), fixed("10.0.0.9")] } },
      ["InternalIP 10.0.0.9", "InternalIP 10.0.0.2"],
    ],
    ["leave out a port that is DOWN", { ports: [aPort("10.0.0.2", "DOWN")] }, []],
    [
      "have a DOWN port's address where the server lists it",
      { ports: [aPort("10.0.0.2", "DOWN")], addresses: { lan: [fixed("10.0.0.2")] } },
      ["InternalIP 10.0.0.2"],
    ],
    [
      "have floating ones as ExternalIP, networks from A to Z",
      { addresses: { z: [fixed("10.0.0.1"), floating("172.24.4.5")], a: [fixed("10.1.0.1")] } },
      ["InternalIP 10.1.0.1", "InternalIP 10.0.0.1", "ExternalIP 172.24.4.5"],
    ],
    [
      "have accessIPv4 and the metadata's hostname after the ports",
      {
        ports: [aPort("10.0.0.1")],
        server: { accessIPv4: "1.2.3.4", metadata: { hostname: "one.example" } },
      },
      ["InternalIP 10.0.0.1", "ExternalIP 1.2.3.4", "Hostname one.example"],
    ],
    [
      "of a public network are ExternalIP only",
      {
        ports: [aPort("10.0.0.5")],
        addresses: { "net-a": [fixed("10.0.0.5")] },
        networking: { publicNetworks: ["net-a"] },
      },
      ["ExternalIP 10.0.0.5"],
    ],
    [
      "of networks that are not internal are dropped where internal ones are named",
      {
        ports: [aPort("10.0.0.5"), aPort("10.1.0.5")],
        addresses: { "net-a": [fixed("10.0.0.5")], "net-b": [fixed("10.1.0.5")] },
        networking: { internalNetworks: ["net-b"] },
      },
      ["InternalIP 10.1.0.5"],
    ],
    [
      "are sorted by the wanted ranges, ascending within one, the rest as they were",
      {
        addresses: { lan: ["172.16.0.9", "10.0.0.2", "192.168.0.7", "10.0.0.1", "172.16.0.1"].map(fixed) },
        networking: { addressSortOrder: ["192.168.0.0/16", "10.0.0.0/8"] },
      },
      [
        "InternalIP 192.168.0.7",
        "InternalIP 10.0.0.1",
        "InternalIP 10.0.0.2",
        "InternalIP 172.16.0.9",
        "InternalIP 172.16.0.1",
      ],
    ],
    [
      "are without IPv6 where that is switched off",
      { addresses: { lan: [fixed("fd00::1"), fixed("10.0.0.1")] }, networking: { ipv6Disabled: true } },
      ["InternalIP 10.0.0.1"],
    ],
  ])("%s", (_what, given, expected) => {
    expect(addressesOf(given)).toEqual(expected);
  });

  test("are never repeated, and sorting neither adds nor loses one", () => {
    const ip = fc.ipV4();
    fc.assert(
      fc.property(fc.array(ip), fc.array(ip), fc.boolean(), (listed, held, isPublic) => {
        const given: Given = {
          addresses: { lan: listed.map(fixed) },
          ports: held.map((address) => aPort(address)),
          networking: { publicNetworks: isPublic ? ["lan"] : [] },
        };
        const plain = addressesOf(given);
        const networking = { ...given.networking, addressSortOrder: ["10.0.0.0/8", "128.0.0.0/1"] };
        expect(new Set(plain).size).toBe(plain.length);
        expect(addressesOf({ ...given, networking }).toSorted()).toEqual(plain.toSorted());
      }),
    );
  });
});
