import { describe, expect, test } from "vitest";
import { serveHealth } from "./health.ts";
import type { Cluster } from "../contract/cluster.ts";
import type { Response } from "../contract/exchange.ts";

/** What is written to a response that goes nowhere. */
function recorded(): { response: Response; answer: { code: number; body: string } } {
  const answer = { code: 0, body: "" };
  const response = {
    headersSent: false,
    destroyed: false,
    statusCode: 0,
    setHeader: () => {},
    end(body: string) {
      answer.code = response.statusCode;
      answer.body = body;
    },
  };
  return { response: response as unknown as Response, answer };
}

function broken(name = ""): Cluster {
  const list = (): never => {
    throw new Error("disk I/O error");
  };
  return { name, store: { list }, problems: { all: [] } } as unknown as Cluster;
}

describe("health of a server that is not well", () => {
  const { signal: open } = new AbortController();
  const ask = (endpoint: "readyz" | "livez", path: string, query: string, { closing = open, name = "" } = {}) => {
    const { response, answer } = recorded();
    serveHealth(endpoint, { cluster: broken(name), closing, path, query: new URLSearchParams(query) }, response);
    return answer;
  };

  test("names the check that failed, without the reason", () => {
    const { code, body } = ask("livez", "/livez", "");
    expect(code).toBe(500);
    expect(body).toContain("[+]ping ok\n");
    expect(body).toContain("[-]etcd failed: reason withheld\n");
    expect(body).toMatch(/livez check failed\n$/);
  });
  test("gives the reason at the check's own path", () => {
    expect(ask("livez", "/livez/etcd", "")).toEqual({ code: 500, body: "internal server error: disk I/O error\n" });
  });
  test("withholds the store's reason from users of a tenant's cluster at the check's own path", () => {
    const { code, body } = ask("livez", "/livez/etcd", "", { name: "tenant-a" });
    expect([code, body]).toEqual([500, "internal server error: reason withheld\n"]);
  });
  test("is well without the check that is left out", () => {
    expect(ask("livez", "/livez", "exclude=etcd")).toEqual({ code: 200, body: "ok" });
  });
  test("is not ready while it stops, but alive", () => {
    const stopping = AbortSignal.abort();
    const query = "exclude=etcd&exclude=etcd-readiness";
    expect(ask("readyz", "/readyz", query, { closing: stopping }).body).toContain(
      "[-]shutdown failed: reason withheld\n",
    );
    expect(ask("livez", "/livez", query, { closing: stopping }).code).toBe(200);
  });
});

describe("problems that an operator has to see to", () => {
  const { signal: closing } = new AbortController();
  const ask = (check: string, path: string, name = "") => {
    const found = { check, code: "CODE", message: "what is wrong", hint: "" };
    const store = { list: () => ({ items: [] }) };
    const cluster = { name, store, problems: { all: [found] } } as unknown as Cluster;
    const { response, answer } = recorded();
    serveHealth("readyz", { cluster, closing, path, query: new URLSearchParams("verbose") }, response);
    return answer;
  };

  test.each(["disk", "descriptors"])("make a server unready: %s", (check) => {
    expect(ask(check, "/readyz").code).toBe(500);
    expect(ask(check, "/readyz").body).toContain(`[-]${check} failed: reason withheld\n`);
    expect(ask(check, `/readyz/${check}`).body).toBe("internal server error: what is wrong (CODE)\n");
  });

  test.each(["disk", "descriptors", "workers"])("are a code alone for users of a tenant's cluster: %s", (check) => {
    expect(ask(check, `/readyz/${check}`, "tenant-a").body).toBe("internal server error: reason withheld (CODE)\n");
  });

  test("a worker that is stuck is reported, and the management cluster is still ready", () => {
    const { code, body } = ask("workers", "/readyz");
    expect(code).toBe(200);
    expect(body).toContain("[-]workers failed: reason withheld\n");
    expect(ask("workers", "/readyz/workers").code).toBe(500);
  });
});
