import { expect, test } from "vitest";
import { protocolToken } from "./websocket-token.ts";

const PREFIX = "base64url.bearer.authorization.k8s.io.";
const encoded = (token: string): string => Buffer.from(token).toString("base64url");
const TOKEN = `${PREFIX}${encoded("secret")}`;

// The rows are those of apiserver's pkg/authentication/request/websocket/protocol_test.go.
test.each<[string, string | undefined, ReturnType<typeof protocolToken>]>([
  ["there are none", undefined, undefined],
  ["they are empty", "", undefined],
  ["none has a token", "v5.channel.k8s.io,v4.channel.k8s.io", undefined],
  ["one has a token", `v5.channel.k8s.io, ${TOKEN}`, { token: "secret", others: "v5.channel.k8s.io" }],
  ["the token comes first", `${TOKEN} , a ,b`, { token: "secret", others: "a,b" }],
  ["the token is the only one", TOKEN, "invalid"],
  ["the token is empty", `a,${PREFIX}`, undefined],
  ["two have tokens", `a,${TOKEN},${TOKEN}`, "invalid"],
  ["the token is padded", `a,${PREFIX}QQ==`, "invalid"],
  ["the token is not base64url", `a,${PREFIX}Q+/=`, "invalid"],
  ["the token has no whole byte", `a,${PREFIX}Q`, "invalid"],
  ["the token is not UTF-8", `a,${PREFIX}${Buffer.from([0xff]).toString("base64url")}`, "invalid"],
  ["the token has a byte order mark", `a,${PREFIX}${encoded("\uFEFFx")}`, { token: "\uFEFFx", others: "a" }],
])("the token of a WebSocket request where %s", (_what, header, expected) => {
  expect(protocolToken(header)).toEqual(expected);
});
