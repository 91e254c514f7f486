import { readFileSync } from "node:fs";

const LINUX = "/proc/sys/net/ipv4/ip_local_port_range";
/** Of systems that do not say. Linux's own is 32768. */
const FIRST_OF_CLIENTS = 32_768;
/** Above what services of this host use by convention, as far as these have a convention. */
const LOWEST = 16_384;
/** Kubernetes' node ports: kube-proxy holds any of them. */
const FIRST_NODE_PORT = 30_000;
const ATTEMPTS = 16;

/**
 * Ports to try, one after another, for a server that has to come back at the port it got. The kernel gives none of
 * these to a client's connection, which would hold it while the server is away. Empty where the range of clients leaves
 * none; a caller takes any port then, and where all of these are in use.
 *
 * `choose` gives a whole number from 0 to below its argument.
 */
export function steadyPorts(
  choose: (below: number) => number = (below) => Math.floor(Math.random() * below),
  firstOfClients: number = firstClientPort(),
): number[] {
  const count = Math.min(firstOfClients, FIRST_NODE_PORT) - LOWEST;
  return count < 1 ? [] : Array.from({ length: ATTEMPTS }, () => LOWEST + choose(count));
}

/** The first port that the kernel gives to connections of clients, as ip(7) says. */
function firstClientPort(): number {
  try {
    const first = Number.parseInt(readFileSync(LINUX, "utf8"), 10);
    return Number.isInteger(first) ? first : FIRST_OF_CLIENTS;
  } catch {
    return FIRST_OF_CLIENTS;
  }
}
