import { beforeAll, expect, test } from "vitest";
import { X509Certificate } from "node:crypto";
import { TLSSocket } from "node:tls";
import { createAuthority, issueCertificate, VirtualClock, type KeyPair } from "@causeway/foundation";
import type { Cluster } from "../contract/cluster.ts";
import { statusOf } from "../errors/status.ts";
import { authenticate } from "./authenticate.ts";

const NOW = Date.UTC(2026, 5, 1);
const USERS: Readonly<Record<string, string>> = { good: "robot", better: "other" };
const BEARER = "base64url.bearer.authorization.k8s.io";
let trusted: KeyPair;
let foreign: KeyPair;
let own: X509Certificate;
beforeAll(async () => {
  const make = async (commonName: string) => {
    const authority = await createAuthority({ commonName, lifetime: 3_600_000, now: NOW });
    const leaf = { commonName: "jane", usages: ["client"], lifetime: 3_600_000, now: NOW } as const;
    return { authority, leaf: await issueCertificate(authority, leaf) };
  };
  const one = await make("one");
  own = new X509Certificate(one.authority.certificate);
  trusted = one.leaf;
  foreign = (await make("two")).leaf;
});

interface Row {
  readonly certificate?: "trusted" | "foreign";
  readonly authorization?: string;
  readonly protocols?: string | undefined;
  readonly path?: string;
}

function socketOf(pair: KeyPair | undefined): TLSSocket {
  const socket = Object.create(TLSSocket.prototype) as TLSSocket;
  const peer = pair ? new X509Certificate(pair.certificate).toLegacyObject() : {};
  socket.getPeerCertificate = (() => peer) as unknown as TLSSocket["getPeerCertificate"];
  return socket;
}

async function asked(row: Row): Promise<{ name: string; accepted: string[]; tokens: string[] }> {
  const tokens: string[] = [];
  const accepted: string[] = [];
  const cluster = {
    name: "c",
    clock: new VirtualClock(NOW),
    clientAuthorities: { certificates: [own], generation: 0 },
    tokens: {
      async verify(token: string) {
        tokens.push(token);
        const name = USERS[token];
        return name === undefined ? { error: "unknown" } : { user: { name, groups: [] }, audiences: [] };
      },
      admitsAnonymous: (path: string) => path === "/livez",
    },
  } as unknown as Cluster;
  const { certificate, authorization, path = "/livez" } = row;
  const pair = certificate === "trusted" ? trusted : certificate === "foreign" ? foreign : undefined;
  const credentials = {
    socket: socketOf(pair),
    authorization,
    path,
    ...("protocols" in row
      ? { protocols: { value: row.protocols, accepted: (others: string) => void accepted.push(others) } }
      : {}),
  };
  try {
    const { name } = await authenticate(cluster, credentials, new WeakMap());
    return { name, accepted, tokens };
  } catch (error) {
    return { name: String(statusOf(error).code), accepted, tokens };
  }
}

const inProtocol = (token: string, others = ",v4.channel.k8s.io"): string =>
  `${BEARER}.${Buffer.from(token).toString("base64url")}${others}`;

test.each<[string, Row, string]>([
  ["without credentials", {}, "system:anonymous"],
  ["without credentials, where anonymous requests are not allowed", { path: "/version" }, "401"],
  ["with a certificate of the cluster", { certificate: "trusted" }, "jane"],
  [
    "with a certificate of the cluster and a wrong token",
    { certificate: "trusted", authorization: "Bearer bad" },
    "jane",
  ],
  ["with a certificate of another", { certificate: "foreign" }, "401"],
  [
    "with a certificate of another and a right token",
    { certificate: "foreign", authorization: "Bearer good" },
    "robot",
  ],
  ["with a right token", { authorization: "Bearer good" }, "robot"],
  ["with a token after spaces and in lower case", { authorization: "  bearer good" }, "robot"],
  ["with a token and more after it", { authorization: "Bearer good more" }, "robot"],
  ["with a wrong token", { authorization: "Bearer bad" }, "401"],
  ["with another scheme", { authorization: "Basic Z29vZA==" }, "system:anonymous"],
  ["with a scheme and no token", { authorization: "Bearer " }, "system:anonymous"],
  ["with a token among the subprotocols", { protocols: inProtocol("good") }, "robot"],
  ["with a wrong token among the subprotocols", { protocols: inProtocol("bad") }, "401"],
  ["with a token as the only subprotocol", { protocols: inProtocol("good", "") }, "401"],
  ["with subprotocols without a token", { protocols: "v4.channel.k8s.io" }, "system:anonymous"],
  ["for a WebSocket without subprotocols", { protocols: undefined }, "system:anonymous"],
  [
    "with a wrong token and a right one among the subprotocols",
    { authorization: "Bearer bad", protocols: inProtocol("better") },
    "other",
  ],
  [
    "with a right token and another among the subprotocols",
    { authorization: "Bearer good", protocols: inProtocol("better") },
    "robot",
  ],
])("the credentials of a request %s decide who its user is", async (_what, row, expected) => {
  expect((await asked(row)).name).toBe(expected);
});

test("a valid token among the subprotocols is not among those that are accepted", async () => {
  expect((await asked({ protocols: inProtocol("good") })).accepted).toEqual(["v4.channel.k8s.io"]);
  expect((await asked({ protocols: inProtocol("bad") })).accepted).toEqual([]);
  expect((await asked({ protocols: inProtocol("good", "") })).tokens).toEqual([]);
  const both = await asked({ authorization: "Bearer good", protocols: inProtocol("better") });
  expect(both).toMatchObject({ accepted: [], tokens: ["good"] });
});

test("a connection without TLS has no certificate", async () => {
  const cluster = { tokens: { admitsAnonymous: () => true } } as unknown as Cluster;
  const credentials = { socket: {}, authorization: undefined, path: "/" };
  expect((await authenticate(cluster, credentials, new WeakMap())).name).toBe("system:anonymous");
});
