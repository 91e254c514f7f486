import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { Component } from "../model/component.ts";
import { identity, job, needs, PYTHON_OVS, SERVICE_UID, worker } from "./words.ts";

/** What connects the nodes with their fabric, and the check of the nodes before anything of the network runs there. */

const onHost = { service: "ovn", placement: "Host", scale: "Node", kind: "DaemonSet" } as const;

/** Checks each node again whenever what is required of it changes, and before that reaches a process of it. */
export const PREFLIGHT = "host-preflight";

/** The check that every node passes before its network is changed. */
export const preflight: Component = {
  name: PREFLIGHT,
  ...onHost,
  image: "ovn",
  command: ["/bin/sh", "/programs/preflight.sh"],
  programs: ["preflight.sh"],
  probe: { ask: "command", command: ["test", "-e", "/tmp/passed"] },
  gate: true,
  grace: { seconds: 5 },
  host: {
    reason: "reads names and MTUs of the host's interfaces, and which modules its kernel has",
    network: true,
    paths: [{ path: "/lib/modules", readOnly: true }],
  },
  resources: { cpu: "5m", memory: "16Mi" },
  uid: SERVICE_UID,
  does: "Checks interfaces, MTU, kernel modules, Ceph's files and the shared claim of a node. Nothing of the network changes before each node that is up passes.",
};

const FRR_READY = "/run/frr/ready";

/** FRR and OVN's BGP agent: only in deployments with `network.bgp`. */
export const bgp: readonly Component[] = [
  {
    name: "frr",
    ...onHost,
    image: "frr",
    command: ["/bin/sh", "/programs/frr.sh"],
    programs: ["frr.sh", "frr.conf"],
    after: [PREFLIGHT],
    probe: {
      ask: "command",
      command: ["vtysh", "--config_dir", "/tmp/frr", "--vty_socket", "/run/frr", "-c", "show bgp summary json"],
    },
    grace: { seconds: 20 },
    host: {
      reason: "writes routes of the host and exchanges BGP routes with the leaves through its interfaces",
      network: true,
      root: true,
      capabilities: [
        "NET_ADMIN",
        "NET_RAW",
        "NET_BIND_SERVICE",
        "SYS_ADMIN",
        "SETUID",
        "SETGID",
        "CHOWN",
        "DAC_OVERRIDE",
      ],
      paths: [{ path: "/run" }],
    },
    resources: { cpu: "50m", memory: "128Mi" },
    uid: 0,
    does: "BGP of a node: addresses of its servers to the leaves. Routes remain while it is replaced.",
  },
  worker("ovn", {
    name: "ovn-bgp-agent",
    ...PYTHON_OVS,
    ...onHost,
    image: "ovn-bgp-agent",
    command: ["/bin/sh", "/programs/ovn-bgp-agent.sh"],
    configuration: [],
    programs: [...PYTHON_OVS.programs, "ovn-bgp-agent.sh", "bgp-agent.conf"],
    connections: [needs("ovn-nb", "ovsdb"), needs("ovn-sb", "ovsdb")],
    sameNode: [
      { component: "frr", socket: FRR_READY },
      { component: "ovn-controller", socket: "/run/ovn/ovn-controller.ready" },
    ],
    probe: { ask: "command", command: ["/usr/bin/python3", "-IS", "/programs/probe.py", "runs", "ovn-bgp-agent"] },
    grace: { seconds: 30 },
    host: {
      reason: "makes a VRF, rules, routes and flows of the host for addresses that are announced",
      network: true,
      privileged: true,
      root: true,
      paths: [{ path: "/run" }],
    },
    uid: 0,
    does: "Configures FRR with the addresses of the node, from OVN's northbound database.",
  }),
];

/** The Job that makes the fabric's networks in Neutron: only with `network.providerNetworks`. */
export const providerNetworks: Component = job("neutron", {
  name: "neutron-provider-networks",
  does: "Makes the networks of the fabric: one segment with its VLAN and subnet for each rack.",
  image: "keystone",
  command: ["/usr/bin/python3", "/programs/provider-networks.py", "/programs/provider-networks.json"],
  configuration: [],
  connections: [identity, needs("neutron-server", "api")],
  after: ["keystone-bootstrap"],
  secrets: ["keystone.admin"],
  programs: ["provider-networks.py", "provider-networks.json"],
});

/** What `network` of a deployment adds to the catalogue. */
export function fabricComponents({ network }: OpenStackDeploymentSpec, hasNeutron: boolean): Component[] {
  return [...(network?.bgp ? bgp : []), ...(network?.providerNetworks && hasNeutron ? [providerNetworks] : [])];
}
