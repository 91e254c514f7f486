import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { silentLog } from "@causeway/foundation";
import { afterEach, expect, test } from "vitest";
import type { ApiServer } from "../interface.ts";
import { startApiServer } from "../start.ts";
import { rawClient } from "../testing/client.ts";
import { requestHandler } from "./handler.ts";
import { boundedStatus } from "../errors/status.ts";

let server: ApiServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** What a client gets from a handler whose requests all fail with `error`. */
async function answerTo(error: unknown): Promise<string> {
  const route = (): never => {
    throw error;
  };
  const http = createServer(requestHandler({ route, log: silentLog }));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      const sent = request({ port, host: "127.0.0.1", path: "/api" }, (response) => {
        response.resume();
        resolve(String(response.statusCode));
      });
      sent.on("error", (e) => resolve((e as NodeJS.ErrnoException).code ?? "error"));
      sent.end();
    });
  } finally {
    http.close();
  }
}

test("a request whose error cannot be written down ends alone", async () => {
  const hostile = new Error("x");
  Object.defineProperty(hostile, "message", {
    get: () => {
      throw new RangeError("Invalid string length");
    },
  });
  expect(await answerTo(hostile)).toBe("ECONNRESET");
  expect(await answerTo(new Error("other"))).toBe("500");
});

test("a Status says little, however much went wrong", () => {
  const causes = Array.from({ length: 100_000 }, (_, i) => ({ message: "y".repeat(100), field: `f${i}` }));
  const status = { kind: "Status", apiVersion: "v1", code: 422, message: "x".repeat(10_000_000), details: { causes } };
  const bounded = JSON.stringify(boundedStatus(status as Parameters<typeof boundedStatus>[0]));
  expect(bounded.length).toBeLessThan(2_500_000);
  expect(bounded).toContain("more characters");
});

test("anonymous clients cannot learn which logical clusters exist", async () => {
  server = await startApiServer();
  await server.ensureCluster("there");
  const anonymous = await rawClient(server.management, { token: "" });
  const answers = [];
  for (const name of ["there", "missing"]) {
    for (const path of ["/api", "/version", "/healthz", "/api/v1/nodes"]) {
      const { code, body } = await anonymous.call("GET", `/clusters/${name}${path}`);
      answers.push(`${code} ${JSON.stringify(body)}`);
    }
  }
  anonymous.close();
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^401 /);
});

test("a tenant's metrics say nothing of the whole process", async () => {
  server = await startApiServer();
  const tenant = await rawClient(await server.ensureCluster("tenant"));
  const { code, body } = await tenant.call("GET", "/metrics");
  tenant.close();
  expect(code).toBe(200);
  expect(String(body["text"])).not.toMatch(/^(process_|nodejs_)/m);
  const management = await rawClient(server.management);
  expect(String((await management.call("GET", "/metrics")).body["text"])).toMatch(/^process_resident_memory_bytes \d/m);
  management.close();
});
