import { X509Certificate, createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthority, issueCertificate, VirtualClock, type KeyPair } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { ANY, LEAF, MIDDLE, NONE, ROOT } from "../testing/chain.ts";
import { certificateUser, clientAuthorities, type CertificateUsers } from "./client-certificates.ts";

const NOW = Date.UTC(2026, 5, 1);
const HOUR = 3_600_000;
let authority: KeyPair;
let other: KeyPair;
let leaf: KeyPair;
let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "authorities-"));
  authority = await createAuthority({ commonName: "one", lifetime: 10 * HOUR, now: NOW });
  other = await createAuthority({ commonName: "another", lifetime: 10 * HOUR, now: NOW });
  leaf = await issued({});
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface CertificateOptions {
  readonly by?: KeyPair;
  readonly commonName?: string;
  readonly organizations?: readonly string[];
  readonly usages?: readonly ("client" | "server")[];
  readonly lifetime?: number;
  readonly now?: number;
}

function issued({ by = authority, ...options }: CertificateOptions): Promise<KeyPair> {
  return issueCertificate(by, {
    commonName: "jane",
    organizations: ["dev"],
    usages: ["client"],
    lifetime: HOUR,
    now: NOW,
    ...options,
  });
}

/** A socket whose client showed these certificates, its own first. */
function socketOf(...chain: readonly string[]): TLSSocket & { reads: number } {
  const peers = chain.map((pem) => new X509Certificate(pem).toLegacyObject() as PeerCertificate);
  for (const [i, peer] of peers.entries()) Object.assign(peer, { issuerCertificate: peers[i + 1] ?? peer });
  const socket = {
    reads: 0,
    getPeerCertificate(isDetailed: boolean) {
      socket.reads += 1;
      return isDetailed ? (peers[0] ?? {}) : {};
    },
  };
  return socket as unknown as TLSSocket & { reads: number };
}

function clusterOf(authorities: readonly string[], name = "c", now = NOW): Cluster {
  const certificates = authorities.map((pem) => new X509Certificate(pem));
  return {
    name,
    clock: new VirtualClock(now),
    clientAuthorities: { certificates, generation: 0 },
  } as unknown as Cluster;
}

const named = (cluster: Cluster, socket: TLSSocket) => certificateUser(cluster, socket, new WeakMap());

describe("a client certificate", () => {
  test("names a user, its groups and the certificate", () => {
    const digest = createHash("sha256").update(new X509Certificate(leaf.certificate).raw).digest("hex");
    expect(named(clusterOf([authority.certificate]), socketOf(leaf.certificate))).toEqual({
      name: "jane",
      groups: ["dev", "system:authenticated"],
      extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${digest}`] },
    });
  });

  test("may have several organizations, or none", async () => {
    const cluster = clusterOf([authority.certificate]);
    const groups = async (organizations: readonly string[]) =>
      named(cluster, socketOf((await issued({ organizations })).certificate));
    expect(await groups(["a", "b"])).toMatchObject({ groups: ["a", "b", "system:authenticated"] });
    expect(await groups([])).toMatchObject({ groups: ["system:authenticated"] });
  });

  test("that was not shown names no user", () => {
    expect(named(clusterOf([authority.certificate]), socketOf())).toBeUndefined();
  });

  test("without its bytes names no user", () => {
    const socket = { getPeerCertificate: () => ({ subject: { CN: "jane" } }) } as unknown as TLSSocket;
    expect(named(clusterOf([authority.certificate]), socket)).toBeUndefined();
  });

  test.each<[string, CertificateOptions]>([
    ["without a name", { commonName: "" }],
    ["for servers alone", { usages: ["server"] }],
  ])("%s is not accepted", async (_what, options) => {
    const { certificate } = await issued(options);
    expect(named(clusterOf([authority.certificate]), socketOf(certificate))).toBe("untrusted");
  });

  test("for clients and servers is accepted", async () => {
    const { certificate } = await issued({ usages: ["server", "client"] });
    expect(named(clusterOf([authority.certificate]), socketOf(certificate))).toMatchObject({ name: "jane" });
  });

  test("of an authority that the cluster does not trust is not accepted", () => {
    expect(named(clusterOf([other.certificate]), socketOf(leaf.certificate))).toBe("untrusted");
    expect(named(clusterOf([]), socketOf(leaf.certificate))).toBe("untrusted");
  });

  test("of an authority with the right name and another key is not accepted", async () => {
    const impostor = await createAuthority({ commonName: "one", lifetime: 10 * HOUR, now: NOW });
    expect(named(clusterOf([impostor.certificate]), socketOf(leaf.certificate))).toBe("untrusted");
  });

  test("may be of any authority that the cluster trusts", () => {
    const both = clusterOf([other.certificate, authority.certificate]);
    expect(named(both, socketOf(leaf.certificate))).toMatchObject({ name: "jane" });
  });

  test.each([
    ["at its last moment", HOUR, true],
    ["after its end", HOUR + 1, false],
    ["at its first moment", -300_000, true],
    ["before its beginning", -300_001, false],
  ])("%s is accepted or refused by the clock", (_when, offset, isAccepted) => {
    const user = named(clusterOf([authority.certificate], "c", NOW + offset), socketOf(leaf.certificate));
    expect(user !== "untrusted").toBe(isAccepted);
  });

  test("of an authority that has ended is not accepted", async () => {
    const { certificate } = await issued({ lifetime: 20 * HOUR });
    const after = clusterOf([authority.certificate], "c", NOW + 11 * HOUR);
    expect(named(after, socketOf(certificate))).toBe("untrusted");
  });
});

describe("a chain of certificates", () => {
  const later = (authority: string, ...chain: string[]) =>
    named(clusterOf([authority], "c", Date.UTC(2050, 0, 1)), socketOf(...chain));

  test("is followed through an authority that one of the cluster signed", () => {
    expect(later(ROOT, LEAF, MIDDLE)).toMatchObject({ name: "jane" });
    expect(later(ROOT, LEAF, MIDDLE, ROOT)).toMatchObject({ name: "jane" });
    expect(later(MIDDLE, LEAF)).toMatchObject({ name: "jane" });
    expect(later(ROOT, LEAF)).toBe("untrusted");
    expect(later(other.certificate, LEAF, MIDDLE)).toBe("untrusted");
  });

  test("may begin with a certificate for any use, and with one that does not name its uses", () => {
    expect(later(ROOT, ANY)).toMatchObject({ name: "any" });
    expect(later(ROOT, NONE)).toMatchObject({ name: "none" });
  });

  test("with a wrong signature is not accepted", () => {
    const bytes = Buffer.from(new X509Certificate(LEAF).raw);
    bytes.writeUInt8((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1);
    const forged = `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64")}\n-----END CERTIFICATE-----`;
    expect(later(MIDDLE, forged)).toBe("untrusted");
    expect(later(ROOT, forged, MIDDLE)).toBe("untrusted");
  });

  test("is followed to an authority of the cluster, past the certificates that were shown", () => {
    const cluster = clusterOf([authority.certificate]);
    expect(named(cluster, socketOf(leaf.certificate, authority.certificate))).toMatchObject({ name: "jane" });
  });

  test("that ends at an authority which the client brought is not accepted", () => {
    expect(named(clusterOf([other.certificate]), socketOf(leaf.certificate, authority.certificate))).toBe("untrusted");
  });

  test("in which a certificate that is no authority signed another is not accepted", async () => {
    const forged = await issued({ by: leaf, commonName: "system:admin", organizations: ["system:masters"] });
    const cluster = clusterOf([authority.certificate]);
    expect(named(cluster, socketOf(forged.certificate, leaf.certificate))).toBe("untrusted");
  });

  test("whose next certificate did not sign the one before is not accepted", async () => {
    const foreign = await issued({ by: other });
    const cluster = clusterOf([authority.certificate]);
    expect(named(cluster, socketOf(foreign.certificate, authority.certificate))).toBe("untrusted");
  });
});

describe("the user that a connection's certificate names", () => {
  test("is remembered by cluster, until the certificate ends", () => {
    const known: CertificateUsers = new WeakMap();
    const socket = socketOf(leaf.certificate);
    const [one, two] = [clusterOf([authority.certificate], "one"), clusterOf([other.certificate], "two")];
    expect(certificateUser(one, socket, known)).toMatchObject({ name: "jane" });
    expect(certificateUser(two, socket, known)).toBe("untrusted");
    expect(certificateUser(one, socket, known)).toMatchObject({ name: "jane" });
    expect(certificateUser(two, socket, known)).toBe("untrusted");
    expect(socket.reads).toBe(2);
    const late = clusterOf([authority.certificate], "one", NOW + HOUR);
    expect(certificateUser(late, socket, known)).toMatchObject({ name: "jane" });
    expect(socket.reads).toBe(2);
    expect(certificateUser(clusterOf([authority.certificate], "one", NOW + HOUR + 1), socket, known)).toBe("untrusted");
    expect(socket.reads).toBe(3);
  });

  test("is read again when the authorities change", () => {
    const known: CertificateUsers = new WeakMap();
    const socket = socketOf(leaf.certificate);
    const cluster = clusterOf([authority.certificate]);
    certificateUser(cluster, socket, known);
    const changed = { ...cluster, clientAuthorities: { certificates: [], generation: 1 } } as unknown as Cluster;
    expect(certificateUser(changed, socket, known)).toBe("untrusted");
  });
});

describe("the authorities of client certificates", () => {
  const file = (text: string): string => {
    const path = join(dir, `${createHash("sha256").update(text).digest("hex").slice(0, 8)}.pem`);
    writeFileSync(path, text);
    return path;
  };
  const names = (found: ReturnType<typeof clientAuthorities>): string[] => found.certificates.map((c) => c.subject);

  test("are the cluster's own and those of the bundle, read again when requested", () => {
    expect(names(clientAuthorities(() => authority.certificate, undefined))).toEqual(["CN=one"]);
    const bundle = file(`a comment\n${other.certificate}\n${authority.certificate}`);
    const found = clientAuthorities(() => authority.certificate, bundle);
    expect(names(found)).toEqual(["CN=one", "CN=another", "CN=one"]);
    expect(found.generation).toBe(0);
    writeFileSync(bundle, other.certificate);
    found.reload();
    expect(names(found)).toEqual(["CN=one", "CN=another"]);
    expect(found.generation).toBe(1);
    writeFileSync(bundle, "");
    expect(() => found.reload()).toThrow("there is no certificate in it");
    expect(names(found)).toEqual(["CN=one", "CN=another"]);
    expect(found.generation).toBe(1);
  });

  test.each<[string, () => string, string | RegExp]>([
    ["a file without certificates", () => file("nothing"), "there is no certificate in it"],
    ["a certificate that is no authority", () => file(leaf.certificate), "one of them is no CA certificate"],
    [
      "an authority and a certificate that is none",
      () => file(`${other.certificate}\n${leaf.certificate}`),
      "one of them is no CA certificate",
    ],
    ["a file that is not there", () => join(dir, "absent.pem"), /ENOENT/],
  ])("cannot be read from %s", (_what, path, why) => {
    const bundle = path();
    let error: unknown;
    try {
      clientAuthorities(() => authority.certificate, bundle);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: "CLIENT_AUTHORITY_INVALID",
      hint: "Specify a PEM file of CA certificates, one after the other.",
      message: expect.stringMatching(why) as unknown,
    });
    expect(String(error)).toContain(`the client authorities in ${bundle} cannot be used: `);
  });
});
