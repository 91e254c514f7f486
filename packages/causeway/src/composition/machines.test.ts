import { silentLog, VirtualClock, type Log } from "@causeway/foundation";
import type { BootedMachine } from "@causeway/machine-agent";
import type { Cloud } from "@causeway/openstack";
import { expect, test } from "vitest";
import { cloudMachines, launchInNamespaces } from "./machines.ts";

const machine: BootedMachine = {
  id: "00000000-0000-4000-8000-000000000000",
  name: "worker-1",
  userData: "",
  addresses: [],
  resources: { cpu: 1, memoryMiB: 512, diskGiB: 1 },
};

test("a machine whose namespace is late is waited for, and one line of the log says so", async () => {
  const clock = new VirtualClock();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const launch = launchInNamespaces({
    disks: { path: (id) => `/nowhere/${id}` },
    clock,
    log,
    program: [],
    codeCache: "",
  });
  const stop = new AbortController();
  const ended = launch(machine, stop.signal);
  await clock.advance(29_000);
  expect(warnings).toEqual([]);
  await clock.advance(60_000);
  expect(warnings).toEqual(["the machine has no network namespace on this host"]);
  stop.abort(new Error("stopped"));
  await ended;
});

test("servers are machines with their data decoded; those without user data are ignored", async () => {
  const server = (id: string, changes: object) => ({
    id,
    name: id,
    status: "ACTIVE",
    flavor: { original_name: "m1.small" },
    addresses: {
      net: [
        { addr: "10.6.0.5", "OS-EXT-IPS:type": "fixed" },
        { addr: "172.24.4.7", "OS-EXT-IPS:type": "floating" },
      ],
    },
    "OS-EXT-SRV-ATTR:user_data": Buffer.from("#cloud-config\n").toString("base64"),
    ...changes,
  });
  const servers = [
    server("on", {}),
    server("off", { status: "SHUTOFF" }),
    server("other", { "OS-EXT-SRV-ATTR:user_data": null }),
  ];
  const flavors = [{ name: "m1.small", vcpus: 2, ram: 2048, disk: 20 }];
  const list = (items: unknown[]) => ({ all: async () => items });
  const cloud = { compute: { servers: list(servers), flavors: list(flavors) } } as unknown as Cloud;
  const found = await cloudMachines(cloud, "project").machines(new AbortController().signal);
  expect(found).toMatchObject([
    {
      id: "on",
      running: true,
      userData: "#cloud-config\n",
      addresses: [
        { type: "InternalIP", address: "10.6.0.5" },
        { type: "ExternalIP", address: "172.24.4.7" },
      ],
      resources: { cpu: 2, memoryMiB: 2048, diskGiB: 20 },
    },
    { id: "off", running: false },
  ]);
});
