/** Servers of the rig's cloud, processes that do not respond for a while, and lines of logs. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { adminToken, request, serviceAddress } from "./cloud.ts";
import { eventually } from "../support/processes.ts";
import { PATIENCE, type Rig } from "./rig.ts";

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

/** Stops every process of a component's containers; the returned function lets them continue. */
export function freeze(component: string): () => void {
  const programs: Readonly<Record<string, string>> = { rabbitmq: "beam.smp", mariadb: "mysqld|mariadbd" };
  const signal = (name: string) => {
    const pids = inMachine(programs[component] ?? component);
    if (pids.length === 0) throw new Error(`no process of ${component} runs`);
    for (const pid of pids) process.kill(pid, name);
  };
  signal("SIGSTOP");
  return () => signal("SIGCONT");
}

/** Processes with this name in a network namespace that is not the host's: those of the rig's pods. */
function inMachine(name: string): number[] {
  const { stdout } = spawnSync("pgrep", ["-x", name], { encoding: "utf8" });
  const space = (pid: string) => readlinkSync(`/proc/${pid}/ns/net`);
  const own = space("self");
  return stdout
    .split("\n")
    .filter((pid) => pid !== "" && space(pid) !== own)
    .map(Number);
}

/**
 * Lines that pods of these services wrote and that are no JSON object; each with its pod. The kubelet puts time, stream
 * and a flag in front.
 */
export function jsonLines(rig: Rig, services: readonly string[]): string[] {
  const folder = join(rig.dir, "machine/root/var/log/pods");
  const pods = readdirSync(folder).filter((name) =>
    services.some((service) => name.startsWith(`default_cloud-${service}-`)),
  );
  const files = pods.flatMap((pod) =>
    readdirSync(join(folder, pod), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".log"))
      .map((file) => join(folder, pod, file)),
  );
  return files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "" && !isObject(line.split(" ").slice(3).join(" ")))
      .map((line) => `${file.slice(folder.length + 1)}: ${line.slice(0, 200)}`)
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
