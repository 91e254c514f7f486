/** Servers of the rig's cloud, processes that do not respond for a while, and lines of logs. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { eventually } from "../support/processes.ts";
import { adminToken, NAME, podsOf, request, serviceAddress } from "./cloud.ts";
import type { Machine } from "./machines.ts";
import { logFolders, PATIENCE, type Rig } from "./rig.ts";

export interface BootedServer {
  readonly id: string;
  readonly status: string;
  readonly network: string;
  readonly port: string;
}

/**
 * An image, a flavor, a network with a subnet and a port on it, and a server on that. Waits until it is no longer being
 * built.
 */
export async function bootServer(rig: Rig, name: string): Promise<BootedServer> {
  const token = await adminToken(rig);
  const at = (component: string, port: number) => `http://${serviceAddress(rig, component)}:${port}`;
  const [glance, neutron, nova] = [
    at("glance-api", 9292),
    at("neutron-server", 9696),
    `${at("nova-api", 8774)}/v2.1`,
  ] as const;
  const send = async <T>(method: string, url: string, body?: unknown): Promise<T> => {
    const answer = await request(rig, method, url, { token, body });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.body.slice(0, 500)}`);
    return (answer.body === "" ? {} : JSON.parse(answer.body)) as T;
  };
  const image = await send<{ id: string }>("POST", `${glance}/v2/images`, {
    name,
    disk_format: "raw",
    container_format: "bare",
  });
  await rig.inNetwork(
    "curl",
    "-sfXPUT",
    "-H",
    `X-Auth-Token: ${token}`,
    "-H",
    "Content-Type: application/octet-stream",
    "--data-binary",
    "a disk",
    `${glance}/v2/images/${image.id}/file`,
  );
  const { flavor } = await send<{ flavor: { id: string } }>("POST", `${nova}/flavors`, {
    flavor: { name, ram: 64, vcpus: 1, disk: 1 },
  });
  const { network } = await send<{ network: { id: string } }>("POST", `${neutron}/v2.0/networks`, {
    network: { name },
  });
  await send("POST", `${neutron}/v2.0/subnets`, {
    subnet: { network_id: network.id, ip_version: 4, cidr: "192.0.2.0/24" },
  });
  const { port } = await send<{ port: { id: string } }>("POST", `${neutron}/v2.0/ports`, {
    port: { network_id: network.id, name },
  });
  const { server } = await send<{ server: { id: string } }>("POST", `${nova}/servers`, {
    server: { name, imageRef: image.id, flavorRef: flavor.id, networks: [{ port: port.id }] },
  });
  let status = "";
  await eventually(PATIENCE, async () => {
    const { server: now } = await send<{ server: { status: string; fault?: { message: string } } }>(
      "GET",
      `${nova}/servers/${server.id}`,
    );
    status = now.fault ? `${now.status}: ${now.fault.message}` : now.status;
    return now.status !== "BUILD";
  });
  return { id: server.id, status, network: network.id, port: port.id };
}

/** Processes of all containers of a component, on the machine that runs them. */
async function processesOf(rig: Rig, component: string): Promise<Map<Machine, number[]>> {
  const found = new Map<Machine, number[]>();
  for (const pod of podsOf(rig, component))
    for (const machine of rig.machines) {
      const container = await machine.container(pod, component);
      if (container)
        found.set(machine, [...(found.get(machine) ?? []), ...(await machine.processes(container.id))]);
    }
  if (found.size === 0) throw new Error(`no process of ${component} runs`);
  return found;
}

/** Stops every process of a component's containers; the returned function lets them continue. */
export async function freeze(rig: Rig, component: string): Promise<() => Promise<void>> {
  const found = await processesOf(rig, component);
  const signal = async (name: "STOP" | "CONT") => {
    await Promise.all([...found].map(([machine, pids]) => machine.signal(name, pids)));
  };
  await signal("STOP");
  return () => signal("CONT");
}

/** Ends every process of these components' containers at once, without a chance to write anything. */
export async function loseAll(rig: Rig, components: readonly string[]): Promise<void> {
  const all = await Promise.all(components.map((component) => processesOf(rig, component)));
  await Promise.all(
    rig.machines.map(async (machine) => {
      const pids = all.flatMap((found) => found.get(machine) ?? []);
      if (pids.length > 0) await machine.signal("KILL", pids);
    }),
  );
}

/**
 * Lines that pods of these services wrote and that are no JSON object; each with its pod. The kubelet puts time, stream
 * and a flag in front.
 */
export function jsonLines(rig: Rig, services: readonly string[]): string[] {
  const folders = logFolders(rig).filter((folder) =>
    services.some((service) => basename(folder).startsWith(`default_${NAME}-${service}-`)),
  );
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".log"))
      .map((file) => join(folder, file)),
  );
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !isObject(line.split(" ").slice(3).join(" ")))
      .map((line) => `${file.split("/").slice(-3).join("/")}: ${line.slice(0, 200)}`)
      .slice(0, 3),
  );
}

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}
