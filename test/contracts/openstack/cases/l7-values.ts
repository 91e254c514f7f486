import type { RawCase, RawGroup } from "../case.ts";

const base = "/v2.0/lbaas";
const long = "x".repeat(256);

/** A load balancer with one listener, one policy and one rule. Octavia checks values before it calls the driver. */
function rule(says: string, given: object): RawCase {
  return withPolicy(says, { action: "REJECT", rules: [{ type: "PATH", compare_type: "EQUAL_TO", ...given }] });
}

function withPolicy(says: string, policy: object): RawCase {
  const listeners = [{ name: "s", protocol: "TCP", protocol_port: 80, l7policies: [policy] }];
  return {
    says,
    call: `POST ${base}/loadbalancers`,
    body: { loadbalancer: { name: "{run}-l", provider: "amphora", vip_port_id: "{port}", listeners } },
    exact: ["faultstring"],
  };
}

const header = { type: "HEADER", key: "x-a" };
const cookie = { type: "COOKIE", key: "a" };
const regex = { compare_type: "REGEX" };

export const l7ValueGroup: RawGroup = {
  name: "values of L7 rules",
  service: "load-balancer",
  cases: [
    {
      says: "a network",
      service: "network",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n" } },
      keep: { n: "network.id" },
      undo: "DELETE /v2.0/networks/{n}",
    },
    {
      says: "a subnet",
      service: "network",
      call: "POST /v2.0/subnets",
      body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.93.0.0/24" } },
      keep: { subnet: "subnet.id" },
      undo: "DELETE /v2.0/subnets/{subnet}",
    },
    {
      // Of a create that it refuses this late Octavia leaves the VIP's port behind, unless the port was given.
      says: "a port",
      service: "network",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}" } },
      keep: { port: "port.id" },
      undo: "DELETE /v2.0/ports/{port}",
    },
    rule("a path with a space", { value: "/a b" }),
    rule("a path beyond ASCII", { value: "/caf\u00e9" }),
    rule("an empty path", { value: "" }),
    rule("a path without a value", {}),
    rule("a path of 256 characters", { value: `/${long}` }),
    rule("a path that ends with a line feed", { value: "/a\n" }),
    rule("a host with a tab", { type: "HOST_NAME", value: "a\tb" }),
    rule("a file type with a space", { type: "FILE_TYPE", value: "j pg" }),
    rule("a file type by its beginning", { type: "FILE_TYPE", compare_type: "STARTS_WITH", value: "jpg" }),
    rule("an expression that cannot be read", { ...regex, value: "^/a(" }),
    rule("an expression with a control character", { ...regex, value: "^/a\u0001" }),
    rule("a header without a key", { type: "HEADER", value: "v" }),
    rule("a header with a space in its key", { ...header, key: "x a", value: "v" }),
    rule("a header with a key beyond ASCII", { ...header, key: "x\u00e9", value: "v" }),
    rule("a header with a key of 256 characters", { ...header, key: long, value: "v" }),
    rule("a header with a space in its value", { ...header, value: "a b" }),
    rule("a header with a value beyond ASCII", { ...header, value: "caf\u00e9" }),
    rule("a header with an expression that cannot be read", { ...header, ...regex, value: "[a" }),
    rule("a cookie without a key", { type: "COOKIE", value: "v" }),
    rule("a cookie with a semicolon in its value", { ...cookie, value: "a;b" }),
    rule("a cookie with a quotation mark in its value", { ...cookie, value: 'a"b' }),
    rule("a client certificate with a key", { type: "SSL_CONN_HAS_CERT", key: "a", value: "true" }),
    rule("a client certificate that is false", { type: "SSL_CONN_HAS_CERT", value: "false" }),
    rule("a client certificate by its beginning", {
      type: "SSL_CONN_HAS_CERT",
      compare_type: "STARTS_WITH",
      value: "True",
    }),
    rule("a verification result that is no number", { type: "SSL_VERIFY_RESULT", value: "x" }),
    rule("a verification result with a key", { type: "SSL_VERIFY_RESULT", key: "a", value: "1" }),
    rule("a verification result by an expression", { type: "SSL_VERIFY_RESULT", ...regex, value: "1" }),
    rule("a name of a client without a key", { type: "SSL_DN_FIELD", value: "v" }),
    rule("a name of a client with a wrong key", { type: "SSL_DN_FIELD", key: "a b", value: "v" }),
    rule("a rule of a type that does not exist", { type: "METHOD", value: "GET" }),
    withPolicy("a redirect to what is no URL", { action: "REDIRECT_TO_URL", redirect_url: "nowhere" }),
    withPolicy("a redirect to a URL with a space", { action: "REDIRECT_TO_URL", redirect_url: "http://a/b c" }),
    withPolicy("a redirect to a URL with a line feed", { action: "REDIRECT_TO_URL", redirect_url: "http://a/b\n" }),
    withPolicy("a redirect to a URL with a bracket", { action: "REDIRECT_TO_URL", redirect_url: "http://a/b[c" }),
    withPolicy("a redirect to a URL of another scheme", { action: "REDIRECT_TO_URL", redirect_url: "ftp://a/b" }),
    withPolicy("a redirect to a URL without a host", { action: "REDIRECT_TO_URL", redirect_url: "http:///b" }),
    withPolicy("a redirect to a prefix that is no URL", { action: "REDIRECT_PREFIX", redirect_prefix: "a" }),
    withPolicy("a redirect of code 200", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b",
      redirect_http_code: 200,
    }),
    withPolicy("a redirect to a URL without the URL", { action: "REDIRECT_TO_URL" }),
    withPolicy("a redirect to a prefix without the prefix", { action: "REDIRECT_PREFIX" }),
    withPolicy("a redirect to a URL and a prefix", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b",
      redirect_prefix: "http://a",
      rules: [{ type: "PATH", compare_type: "EQUAL_TO", value: "" }],
    }),
  ],
};
