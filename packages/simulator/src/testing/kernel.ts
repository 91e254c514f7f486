import { CallLog } from "../cloud/calls.ts";
import { Faults } from "../cloud/faults.ts";
import { mountServices, type CloudApp, type Mounted } from "../cloud/mount.ts";
import type { Caller } from "../kernel/interface.ts";
import { createKernel, type KernelOptions, type OwnedKernel } from "../kernel/kernel.ts";

/** A cloud without Keystone, for tests of one service: in-process, no socket. */
export interface TestCloud {
  readonly kernel: OwnedKernel;
  readonly app: CloudApp;
  readonly faults: Faults;
  readonly calls: CallLog;
  /** One request as a project ("demo", or "demo:admin,reader" to give roles); the body is sent as JSON. */
  as(who: string): (method: string, path: string, body?: unknown) => Promise<TestAnswer>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON; undefined if there was none. */
  readonly body: unknown;
}

export function testCloud(make: (kernel: OwnedKernel) => readonly Mounted[], options: KernelOptions = {}): TestCloud {
  const kernel = createKernel(options);
  const [calls, faults] = [new CallLog(), new Faults()];
  const app = mountServices({ kernel, calls, faults, authenticate: callerOf }, make(kernel));
  kernel.start();
  return {
    kernel,
    app,
    faults,
    calls,
    as: (who) => async (method, path, body) => {
      const headers: Record<string, string> = { "x-auth-token": who };
      if (body !== undefined) headers["content-type"] = "application/json";
      const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
      const response = await app.request(path, init);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text ? (JSON.parse(text) as unknown) : undefined,
      };
    },
  };
}

function callerOf(token: string): Caller {
  const [projectId = "", roles = "member,load-balancer_member"] = token.split(":");
  const list = roles.split(",");
  return { userId: `user-of-${projectId}`, projectId, roles: list, isAdmin: list.includes("admin") };
}
