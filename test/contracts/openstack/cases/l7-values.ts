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
      says: "a network for L7 rules is created",
      service: "network",
      call: "POST /v2.0/networks",
      body: { network: { name: "{run}-n" } },
      keep: { n: "network.id" },
      undo: "DELETE /v2.0/networks/{n}",
    },
    {
      says: "a subnet for L7 rules is created",
      service: "network",
      call: "POST /v2.0/subnets",
      body: { subnet: { network_id: "{n}", ip_version: 4, cidr: "10.93.0.0/24" } },
      keep: { subnet: "subnet.id" },
      undo: "DELETE /v2.0/subnets/{subnet}",
    },
    {
      // Of a create that it refuses this late Octavia leaves the VIP's port behind, unless the port was given.
      says: "a port for L7 rules is created",
      service: "network",
      call: "POST /v2.0/ports",
      body: { port: { network_id: "{n}" } },
      keep: { port: "port.id" },
      undo: "DELETE /v2.0/ports/{port}",
    },
    rule("a path with a space is rejected", { value: "/a b" }),
    rule("a path with a character beyond ASCII is rejected", { value: "/caf\u00e9" }),
    rule("an empty path is rejected", { value: "" }),
    rule("a path rule without a value is rejected", {}),
    rule("a path of 256 characters is rejected", { value: `/${long}` }),
    rule("a path that ends with a line feed is rejected", { value: "/a\n" }),
    rule("a host name with a tab is rejected", { type: "HOST_NAME", value: "a\tb" }),
    rule("a file type with a space is rejected", { type: "FILE_TYPE", value: "j pg" }),
    rule("a file type compared by STARTS_WITH is rejected", {
      type: "FILE_TYPE",
      compare_type: "STARTS_WITH",
      value: "jpg",
    }),
    rule("a regular expression with a syntax error is rejected", { ...regex, value: "^/a(" }),
    rule("a regular expression with a control character is rejected", { ...regex, value: "^/a\u0001" }),
    rule("a header rule without a key is rejected", { type: "HEADER", value: "v" }),
    rule("a header key with a space is rejected", { ...header, key: "x a", value: "v" }),
    rule("a header key with a character beyond ASCII is rejected", { ...header, key: "x\u00e9", value: "v" }),
    rule("a header key of 256 characters is rejected", { ...header, key: long, value: "v" }),
    rule("a header value with a space is rejected", { ...header, value: "a b" }),
    rule("a header value with a character beyond ASCII is rejected", { ...header, value: "caf\u00e9" }),
    rule("a header rule with a malformed regular expression is rejected", { ...header, ...regex, value: "[a" }),
    rule("a cookie rule without a key is rejected", { type: "COOKIE", value: "v" }),
    rule("a cookie value with a semicolon is rejected", { ...cookie, value: "a;b" }),
    rule("a cookie value with a quotation mark is rejected", { ...cookie, value: 'a"b' }),
    rule("a client certificate rule with a key is rejected", { type: "SSL_CONN_HAS_CERT", key: "a", value: "true" }),
    rule("a client certificate rule with value false is rejected", { type: "SSL_CONN_HAS_CERT", value: "false" }),
    rule("a client certificate rule compared by STARTS_WITH is rejected", {
      type: "SSL_CONN_HAS_CERT",
      compare_type: "STARTS_WITH",
      value: "True",
    }),
    rule("a verification result that is no number is rejected", { type: "SSL_VERIFY_RESULT", value: "x" }),
    rule("a verification result rule with a key is rejected", { type: "SSL_VERIFY_RESULT", key: "a", value: "1" }),
    rule("a verification result compared by a regular expression is rejected", {
      type: "SSL_VERIFY_RESULT",
      ...regex,
      value: "1",
    }),
    rule("a distinguished name rule without a key is rejected", { type: "SSL_DN_FIELD", value: "v" }),
    rule("a distinguished name rule with an unknown key is rejected", { type: "SSL_DN_FIELD", key: "a b", value: "v" }),
    rule("a rule of an unknown type is rejected", { type: "METHOD", value: "GET" }),
    withPolicy("a redirect to a malformed URL is rejected", { action: "REDIRECT_TO_URL", redirect_url: "nowhere" }),
    withPolicy("a redirect to a URL with a space is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b c",
    }),
    withPolicy("a redirect to a URL with a line feed is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b\n",
    }),
    withPolicy("a redirect to a URL with a bracket is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b[c",
    }),
    withPolicy("a redirect to a URL of another scheme is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "ftp://a/b",
    }),
    withPolicy("a redirect to a URL without a host is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http:///b",
    }),
    withPolicy("a redirect to a prefix that is no URL is rejected", {
      action: "REDIRECT_PREFIX",
      redirect_prefix: "a",
    }),
    withPolicy("a redirect with HTTP code 200 is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b",
      redirect_http_code: 200,
    }),
    withPolicy("a redirect to a URL without its URL is rejected", { action: "REDIRECT_TO_URL" }),
    withPolicy("a redirect to a prefix without its prefix is rejected", { action: "REDIRECT_PREFIX" }),
    withPolicy("a redirect to both a URL and a prefix is rejected", {
      action: "REDIRECT_TO_URL",
      redirect_url: "http://a/b",
      redirect_prefix: "http://a",
      rules: [{ type: "PATH", compare_type: "EQUAL_TO", value: "" }],
    }),
  ],
};
