/** The network of two workers without a cloud: a bridge of this machine, and a network namespace for each. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";

const COUNT = 2;

/** What the networks of two places differ in. */
export interface NetworkSettings {
  /** Three octets. */
  readonly prefix: string;
  /** Of the bridge, at most 12 characters; the names of the workers begin so. */
  readonly name: string;
}

export interface Worker {
  /** Its network namespace is vm-ID. */
  readonly id: string;
  readonly name: string;
  readonly address: string;
}

export interface WorkerNetwork {
  readonly name: string;
  /** The address of this machine. */
  readonly host: string;
  readonly workers: readonly Worker[];
  close(): void;
}

export const ip = (...args: readonly string[]): string => execFileSync("ip", [...args], { encoding: "utf8" });

/** Makes the bridge, with an address of this machine, and the namespaces. Needs root. */
export function openNetwork({ prefix, name }: NetworkSettings): WorkerNetwork {
  const host = `${prefix}.1`;
  const workers = Array.from({ length: COUNT }, (_, index): Worker => {
    return { id: randomUUID(), name: `${name}-${index + 1}`, address: `${prefix}.${10 + index}` };
  });
  const close = (): void => {
    for (const { id } of workers) attempt(() => ip("netns", "delete", `vm-${id}`));
    attempt(() => ip("link", "delete", name));
  };
  if (isThere(name))
    throw new Error(`another run has the network ${name}, or was killed in it: then run \`ip link delete ${name}\``);
  // Of a run that was killed: its machines keep the other ends.
  for (const index of workers.keys())
    attempt(() => isThere(`${name}${index}`) && ip("link", "delete", `${name}${index}`));
  try {
    ip("link", "add", name, "type", "bridge");
    ip("address", "add", `${host}/24`, "dev", name);
    ip("link", "set", name, "up");
    for (const [index, { id, address }] of workers.entries()) {
      const [namespace, outer] = [`vm-${id}`, `${name}${index}`];
      ip("netns", "add", namespace);
      ip("link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", namespace);
      ip("link", "set", outer, "master", name, "up");
      ip("-n", namespace, "link", "set", "lo", "up");
      ip("-n", namespace, "link", "set", "eth0", "up");
      ip("-n", namespace, "address", "add", `${address}/24`, "dev", "eth0");
      ip("-n", namespace, "route", "add", "default", "via", host);
    }
    return { name, host, workers, close };
  } catch (error) {
    close();
    throw error;
  }
}

const isThere = (device: string): boolean => existsSync(`/sys/class/net/${device}`);

function attempt(act: () => unknown): void {
  try {
    act();
  } catch {
    // It is not there.
  }
}
