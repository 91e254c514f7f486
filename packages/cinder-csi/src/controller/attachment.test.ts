import { CausewayError, silentLog, VirtualClock } from "@causeway/foundation";
import type { Volume } from "@causeway/openstack";
import { expect, test } from "vitest";
import type { StorageCloud } from "../clouds.ts";
import { detach } from "./attachment.ts";

const volume = (status: string, servers: readonly string[]) =>
  ({ id: "v", status, attachments: servers.map((server_id) => ({ server_id })) }) as unknown as Volume;

test("a detachment whose answer was lost late is waited for, and not mistaken for one that is stuck", async () => {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const handlers = new Set<(change: { object: Volume }) => void>();
  /** What Cinder has, and what the informer shows. */
  let actual = volume("in-use", ["node-1"]);
  let shown = actual;
  const show = () => {
    shown = actual;
    for (const handler of handlers) handler({ object: shown });
  };
  const storage = {
    volumes: {
      start: () => Promise.resolve(),
      get: () => shown,
      hurry: () => {},
      observe: () => {},
      refresh: () => Promise.resolve(show()),
      onChange(handler: (change: { object: Volume }) => void) {
        handlers.add(handler);
        return () => handlers.delete(handler);
      },
    },
    cloud: {
      compute: {
        volumeAttachments: () => ({
          async detach() {
            calls.push("detach");
            // A minute later the connection breaks; Nova has begun to detach.
            await clock.sleep(61_000);
            actual = volume("detaching", ["node-1"]);
            throw new CausewayError("OPENSTACK_UNREACHABLE", "the answer was lost");
          },
          all: () => Promise.resolve([]),
        }),
      },
      blockStorage: {
        attachments: {
          all() {
            calls.push("list attachments");
            return Promise.resolve([]);
          },
        },
      },
    },
  } as unknown as StorageCloud;
  const { signal } = new AbortController();
  let done = false;
  const running = detach({ storage, volumeId: "v", server: "node-1", sharable: false, signal, clock, log: silentLog });
  void running.then(() => (done = true));
  await settled();
  await clock.advance(62_000);
  await settled();
  expect(done).toBe(false);
  actual = volume("available", []);
  show();
  await settled();
  await running;
  expect(calls).toEqual(["detach"]);
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
