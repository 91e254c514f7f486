import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { DetailedPeerCertificate, PeerCertificate, TLSSocket } from "node:tls";
import { CausewayError, messageOf, splitCertificates } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { authenticated, type User } from "../contract/user.ts";
import type { ClientAuthorities } from "../contract/identity.ts";

const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
const ANY_USE = "2.5.29.37.0";
const LONGEST_CHAIN = 8;

/** `own`: PEM certificates, requested again by `reload`. Throws CLIENT_AUTHORITY_INVALID. */
export function clientAuthorities(own: () => string, bundleFile: string | undefined): ClientAuthorities {
  const read = (): readonly X509Certificate[] => [
    ...splitCertificates(own()).map((each) => new X509Certificate(each)),
    ...(bundleFile === undefined ? [] : readBundle(bundleFile)),
  ];
  let certificates = read();
  let generation = 0;
  return {
    get certificates() {
      return certificates;
    },
    get generation() {
      return generation;
    },
    reload() {
      certificates = read();
      generation += 1;
    },
  };
}

function readBundle(file: string): X509Certificate[] {
  const refused = (why: string, cause?: unknown): CausewayError =>
    new CausewayError("CLIENT_AUTHORITY_INVALID", `the client authorities in ${file} cannot be used: ${why}`, {
      cause,
      hint: "Specify a PEM file of CA certificates, one after the other.",
    });
  let found: X509Certificate[];
  try {
    const blocks = readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    found = blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw refused(messageOf(cause), cause);
  }
  if (found.length === 0) throw refused("there is no certificate in it");
  if (found.some((c) => !c.ca)) throw refused("one of them is no CA certificate");
  return found;
}

/** Remembers, for as long as a connection lives, whom its certificate names in which cluster. */
export type CertificateUsers = WeakMap<TLSSocket, Map<string, Found>>;

/** The user of a certificate; "untrusted" if the cluster does not accept it, undefined without a certificate. */
type Certified = User | "untrusted" | undefined;

interface Found {
  readonly certified: Certified;
  readonly generation: number;
  /** Until when it holds, in milliseconds since the epoch. */
  readonly until: number;
}

/**
 * The user of a connection's client certificate: its common name, and its organizations as groups. Remembered until the
 * certificate ends or the cluster's authorities change.
 */
export function certificateUser(cluster: Cluster, socket: TLSSocket, known: CertificateUsers): Certified {
  const users = known.get(socket) ?? new Map<string, Found>();
  const before = users.get(cluster.name);
  const { generation } = cluster.clientAuthorities;
  if (before?.generation === generation && cluster.clock.now() <= before.until) return before.certified;
  const found = { ...namedBy(cluster, socket), generation };
  known.set(socket, users.set(cluster.name, found));
  return found.certified;
}

const FOR_EVER = Infinity;

function namedBy(cluster: Cluster, socket: TLSSocket): Omit<Found, "generation"> {
  const peer = socket.getPeerCertificate(true);
  if (peer.raw === undefined) return { certified: undefined, until: FOR_EVER };
  const [leaf, ...intermediates] = chainOf(peer);
  const untrusted = { certified: "untrusted", until: FOR_EVER } as const;
  if (!leaf || !isTrusted(cluster, leaf, intermediates)) return untrusted;
  const uses = leaf.keyUsage as readonly string[] | undefined;
  if (uses && !uses.includes(CLIENT_AUTH) && !uses.includes(ANY_USE)) return untrusted;
  const { CN, O } = peer.subject as unknown as { CN?: string | string[]; O?: string | string[] };
  const name = [CN ?? ""].flat()[0] ?? "";
  if (!name) return untrusted;
  const id = `X509SHA256=${createHash("sha256").update(peer.raw).digest("hex")}`;
  const extra = { "authentication.kubernetes.io/credential-id": [id] };
  const until = leaf.validToDate.getTime();
  return { certified: authenticated({ name, groups: [O ?? []].flat(), extra }), until };
}

/** The certificates that came, the client's own first. */
function chainOf(peer: ReturnType<TLSSocket["getPeerCertificate"]>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  let here: PeerCertificate | undefined = peer;
  while (here?.raw && !seen.has(here.fingerprint256) && chain.length < LONGEST_CHAIN) {
    seen.add(here.fingerprint256);
    chain.push(new X509Certificate(Buffer.from(here.raw)));
    here = (here as Partial<DetailedPeerCertificate>).issuerCertificate;
  }
  return chain;
}

/** Whether an authority of the cluster is at the end of the chain, and all of it is valid now. */
function isTrusted(cluster: Cluster, leaf: X509Certificate, intermediates: readonly X509Certificate[]): boolean {
  const now = cluster.clock.now();
  const isValid = (c: X509Certificate): boolean => now >= c.validFromDate.getTime() && now <= c.validToDate.getTime();
  const signed = (c: X509Certificate, by: X509Certificate): boolean => c.checkIssued(by) && c.verify(by.publicKey);
  if (!isValid(leaf)) return false;
  const root = cluster.clientAuthorities.certificates.find((c) => signed(leaf, c));
  if (root) return isValid(root);
  const [next, ...rest] = intermediates;
  return next?.ca === true && signed(leaf, next) && isTrusted(cluster, next, rest);
}
