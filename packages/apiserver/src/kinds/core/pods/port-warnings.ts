import { records, text, type Json } from "../../../json/json.ts";

interface Port {
  readonly field: string;
  readonly port: Json;
}

const GROUPS = ["initContainers", "containers"];

/** What is odd about the ports of a pod's containers, and accepted nevertheless: the spec of a pod at `path`. */
export function portWarnings(spec: Json, path: string): string[] {
  const ports = GROUPS.flatMap((group) =>
    records(spec[group]).flatMap((container, i) =>
      records(container["ports"]).map((port, j): Port => ({ field: `${path}.${group}[${i}].ports[${j}]`, port })),
    ),
  );
  const each = ports.flatMap((port, i) => [...addressWarnings(port), ...numberWarnings(port, ports.slice(0, i))]);
  return [...each, ...nameWarnings(ports)];
}

function addressWarnings({ field, port }: Port): string[] {
  const { name, hostPort = 0, containerPort, protocol = "TCP" } = port;
  const hostIp = text(port["hostIP"]);
  if (hostIp === "" || hostPort !== 0) return [];
  const shown = `Name:${text(name)} HostPort:0 ContainerPort:${Number(containerPort)} Protocol:${text(protocol)} HostIP:${hostIp}`;
  return [`${field}: hostIP set without hostPort: {${shown}}`];
}

function numberWarnings({ field, port }: Port, before: readonly Port[]): string[] {
  const isSame = (other: Json): boolean =>
    other["containerPort"] === port["containerPort"] && (other["protocol"] ?? "TCP") === (port["protocol"] ?? "TCP");
  return before.flatMap((other) => {
    const how = isSame(other.port) ? overlap(port, other.port) : undefined;
    return how === undefined ? [] : [`${field}: ${how} port definition with ${other.field}`];
  });
}

function overlap(port: Json, other: Json): string | undefined {
  const [host, otherHost] = [port["hostPort"] ?? 0, other["hostPort"] ?? 0];
  const [ip, otherIp] = [text(port["hostIP"]), text(other["hostIP"])];
  if (ip === otherIp && host === otherHost) return "duplicate";
  if (host === 0 || otherHost === 0) return "overlapping";
  return host === otherHost && (ip === "") !== (otherIp === "") ? "dangerously ambiguous" : undefined;
}

function nameWarnings(ports: readonly Port[]): string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ field, port }) => {
    const name = text(port["name"]);
    const known = name === "" ? undefined : first.get(name);
    if (known === undefined) {
      first.set(name, field);
      return [];
    }
    const why = `services and probes that select ports by name will use ${known}`;
    return [`${field}: duplicate port name ${JSON.stringify(name)} with ${known}, ${why}`];
  });
}
