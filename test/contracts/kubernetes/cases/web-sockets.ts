import { expect } from "vitest";
import type { Answer, CaseGroup, Context, Frame, Json, UpgradeAnswer } from "../interface.ts";
import { at, configMap, made, refused } from "./shorthands.ts";

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** The answer to the key of the handshake, as RFC 6455 has it. */
const ACCEPTED = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const NORMAL = 1000;

const eventOf = ({ payload }: Frame): Json => JSON.parse(payload.toString("utf8")) as Json;
const named = (frame: Frame): unknown => [eventOf(frame)["type"], at(eventOf(frame), "object", "metadata", "name")];
const headOf = ({ headers }: Answer): Json => ({
  upgrade: headers["upgrade"],
  connection: headers["connection"],
  accept: headers["sec-websocket-accept"],
  protocol: headers["sec-websocket-protocol"],
});

/** A watch of ConfigMaps in the namespace of the case, from now on. */
async function opened({ api, core }: Context, query = "", headers = {}): Promise<UpgradeAnswer> {
  const { body } = await api.get(core("configmaps"));
  const from = String(at(body, "metadata", "resourceVersion"));
  return api.upgrade(`${core("configmaps")}?watch=true&resourceVersion=${from}${query}`, headers);
}

/** A token of a service account that may read what is in the namespace. */
async function tokenOf({ api, core, apis, namespace }: Context): Promise<string> {
  await made(api.post(core("serviceaccounts"), { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "w" } }));
  await made(
    api.post(apis("rbac.authorization.k8s.io/v1", "roles"), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "Role",
      metadata: { name: "w" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch"] }],
    }),
  );
  await made(
    api.post(apis("rbac.authorization.k8s.io/v1", "rolebindings"), {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "w" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "w" },
      subjects: [{ kind: "ServiceAccount", name: "w", namespace }],
    }),
  );
  const body = await made(api.post(`${core("serviceaccounts", "w")}/token`, { spec: {} }));
  return String(at(body, "status", "token"));
}

const inProtocol = (token: string): string =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;

/** The statuses and bodies of handshakes with these headers. */
async function handshakes(context: Context, all: readonly Record<string, string>[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const headers of all) {
    const { code, text, headers: got, close } = await opened(context, "", headers);
    close();
    answers.push([code, text, got["sec-websocket-version"]]);
  }
  return answers;
}

export const webSockets: CaseGroup = {
  title: "watches by WebSocket",
  cases: [
    {
      name: "a WebSocket watch sends each event as one text message",
      async run(context) {
        const { api, core } = context;
        const socket = await opened(context);
        expect(socket.code).toBe(101);
        expect(headOf(socket)).toEqual({ upgrade: "websocket", connection: "Upgrade", accept: ACCEPTED });
        await made(api.post(core("configmaps"), configMap("a", { data: { text: "one\ntwo" } })));
        await made(api.post(core("configmaps"), configMap("b", { data: { text: "ü".repeat(100_000) } })));
        await api.delete(core("configmaps", "a"));
        const frames = await socket.take(3);
        socket.close();
        expect(frames.map(named)).toEqual([
          ["ADDED", "a"],
          ["ADDED", "b"],
          ["DELETED", "a"],
        ]);
        expect(frames.map((f) => [f.opcode, f.isLast])).toEqual([
          [TEXT, true],
          [TEXT, true],
          [TEXT, true],
        ]);
        expect(frames.map((f) => f.payload.toString("utf8").endsWith("}\n"))).toEqual([true, true, true]);
        expect(at(eventOf(frames[1] as Frame), "object", "data", "text")).toBe("ü".repeat(100_000));
      },
    },
    {
      name: "a WebSocket watch begins with what is, and marks the end of that when requested",
      async run({ api, core }) {
        const metadata = { labels: { own: "" } };
        for (const name of ["a", "b"]) await made(api.post(core("configmaps"), configMap(name, { metadata })));
        const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
        const socket = await api.upgrade(`${core("configmaps")}?${query}&labelSelector=own`);
        const frames = await socket.take(3);
        socket.close();
        expect(frames.map((f) => eventOf(f)["type"])).toEqual(["ADDED", "ADDED", "BOOKMARK"]);
      },
    },
    {
      name: "a WebSocket watch of a table sends tables",
      async run(context) {
        const { api, core } = context;
        const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        const socket = await opened(context, "", { accept });
        await made(api.post(core("configmaps"), configMap("a")));
        const [frame] = await socket.take(1);
        socket.close();
        expect(eventOf(frame as Frame)).toMatchObject({ type: "ADDED", object: { kind: "Table" } });
        expect(frame?.opcode).toBe(TEXT);
      },
    },
    {
      name: "a WebSocket watch ends after its time with a close frame",
      async run(context) {
        const socket = await opened(context, "&timeoutSeconds=1");
        const frames = await socket.rest();
        expect(frames.map((f) => [f.opcode, f.payload.readUInt16BE(0)])).toEqual([[CLOSE, NORMAL]]);
      },
    },
    {
      name: "a WebSocket watch answers pings, ignores messages, and ends when the client closes",
      async run(context) {
        const { api, core } = context;
        const socket = await opened(context);
        socket.send(TEXT, Buffer.from("hello"));
        socket.send(PING, Buffer.from("are you there"));
        const [pong] = await socket.take(1);
        expect([pong?.opcode, pong?.payload.toString()]).toEqual([PONG, "are you there"]);
        await made(api.post(core("configmaps"), configMap("a")));
        expect((await socket.take(1)).map(named)).toEqual([["ADDED", "a"]]);
        socket.send(CLOSE, Buffer.from([NORMAL >> 8, NORMAL & 0xff]));
        const rest = await socket.rest();
        expect(rest.map((f) => f.opcode)).toEqual([CLOSE]);
      },
    },
    {
      name: "the handshake of a WebSocket watch needs a key, version 13 and an origin, and names one subprotocol at most",
      async run(context) {
        expect(
          await handshakes(context, [
            { "sec-websocket-key": "" },
            { "sec-websocket-version": "12" },
            { origin: "" },
            { origin: "null" },
            { origin: "/" },
            { "sec-websocket-protocol": "a, b" },
          ]),
        ).toEqual([
          [400, expect.any(String), undefined],
          [400, expect.any(String), "13"],
          [403, "", undefined],
          [403, "", undefined],
          [101, "", undefined],
          [400, "", undefined],
        ]);
      },
    },
    {
      name: "the subprotocol of a WebSocket watch is accepted, and changes nothing about its messages",
      async run(context) {
        const { api, core } = context;
        for (const protocol of ["base64.binary.k8s.io", "binary.k8s.io", "anything"]) {
          const socket = await opened(context, "", { "sec-websocket-protocol": protocol });
          expect([socket.code, headOf(socket)["protocol"]]).toEqual([101, protocol]);
          await made(api.post(core("configmaps"), configMap(protocol)));
          const [frame] = await socket.take(1);
          socket.close();
          expect([frame?.opcode, named(frame as Frame)]).toEqual([TEXT, ["ADDED", protocol]]);
        }
      },
    },
    {
      name: "a token may come as a subprotocol, next to another one that is accepted",
      async run(context) {
        const { as, core } = context;
        const token = await tokenOf(context);
        const path = `${core("configmaps")}?watch=true`;
        const anonymous = await as({ anonymous: true });
        const tried = async (protocol: string): Promise<unknown[]> => {
          const socket = await anonymous.upgrade(path, { "sec-websocket-protocol": protocol });
          socket.close();
          return [socket.code, headOf(socket)["protocol"]];
        };
        expect(await tried(`${inProtocol(token)}, base64.binary.k8s.io`)).toEqual([101, "base64.binary.k8s.io"]);
        expect(await tried(`binary.k8s.io,${inProtocol(token)}`)).toEqual([101, "binary.k8s.io"]);
        expect(await tried(inProtocol(token))).toEqual([401, undefined]);
        expect(await tried(`${inProtocol("wrong")}, x`)).toEqual([401, undefined]);
        expect(await tried(`${inProtocol(token)}, ${inProtocol(token)}, x`)).toEqual([401, undefined]);
        expect(await tried(`base64url.bearer.authorization.k8s.io.%%%, x`)).toEqual([401, undefined]);
        expect(await tried("x")).toEqual([403, undefined]);
      },
    },
    {
      name: "a token as a subprotocol is only read of requests for a WebSocket",
      async run(context) {
        const { as, core } = context;
        const protocol = `${inProtocol(await tokenOf(context))}, x`;
        const anonymous = await as({ anonymous: true });
        const headers = { "sec-websocket-protocol": protocol };
        expect((await anonymous.get(core("configmaps"), { headers })).code).toBe(403);
        const list = await anonymous.upgrade(core("configmaps"), headers);
        expect([list.code, list.body["kind"]]).toEqual([200, "ConfigMapList"]);
      },
    },
    {
      name: "a refused WebSocket watch gets the response of any other request",
      async run({ api, as, core }) {
        const stranger = await as({ user: "stranger" });
        refused(await stranger.upgrade(`${core("configmaps")}?watch=true`), 403, "Forbidden", /cannot watch resource/);
        refused(await api.upgrade(`${core("nothings")}?watch=true`), 404, "NotFound", /.*/);
        const bad = await api.upgrade(`${core("configmaps")}?watch=true&labelSelector=%3D%3D%3D`);
        refused(bad, 400, "BadRequest", /.*/);
      },
    },
    {
      name: "a request for a WebSocket that is no watch gets the response of any other",
      async run({ api, core }) {
        await made(api.post(core("configmaps"), configMap("a")));
        const one = await api.upgrade(core("configmaps", "a"));
        expect([one.code, at(one.body, "metadata", "name")]).toEqual([200, "a"]);
        const watched = await api.upgrade(`/api/v1/watch${core("configmaps", "a").slice("/api/v1".length)}`);
        expect((await watched.take(1)).map(named)).toEqual([["ADDED", "a"]]);
        watched.close();
      },
    },
  ],
};
