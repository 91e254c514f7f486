import { beforeEach, describe, expect, it } from "vitest";
import { CausewayError, createLog, VirtualClock } from "@causeway/foundation";
import { createKeys, type Keys } from "./keys.ts";

const ID = "0b9a2f1e-5c7d-4a3b-9e8f-112233445566";
const KEY = Buffer.from("this is a key of 32 bytes, yes!!");

describe("the keys of Barbican", () => {
  let clock: VirtualClock;
  let reads: number;
  let failure: CausewayError | undefined;
  let payload: Uint8Array;
  let stuck: boolean;
  let release: () => void;
  let lines: string[];
  let outcomes: string[];
  let keys: Keys;
  beforeEach(() => {
    clock = new VirtualClock();
    reads = 0;
    failure = undefined;
    stuck = false;
    payload = KEY;
    lines = [];
    outcomes = [];
    const log = createLog({ level: "debug", destination: { write: (line) => lines.push(line) } });
    const read = (): Promise<Uint8Array> => {
      reads += 1;
      if (stuck) return new Promise((_, reject) => (release = () => reject(away)));
      return failure ? Promise.reject(failure) : Promise.resolve(payload);
    };
    keys = createKeys({
      read,
      onRead: (outcome) => outcomes.push(outcome),
      clock,
      log,
      lifetime: 60_000,
      outage: 600_000,
    });
  });
  const away = new CausewayError("OPENSTACK_UNREACHABLE", "no connection");

  it("are read once for all calls within their lifetime", async () => {
    await Promise.all(Array.from({ length: 100 }, () => keys.get(ID)));
    await clock.advance(59_000);
    expect(await keys.get(ID)).toEqual(KEY);
    expect(reads).toBe(1);
    await clock.advance(2_000);
    await keys.get(ID);
    expect(reads).toBe(2);
  });

  it("remain usable for a time while Barbican is away, and no longer", async () => {
    await keys.get(ID);
    failure = away;
    await clock.advance(599_000);
    expect(await keys.get(ID)).toEqual(KEY);
    await clock.advance(2_000);
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_UNAVAILABLE" });
    failure = undefined;
    expect(await keys.get(ID)).toEqual(KEY);
  });

  it("that are held are used at once or after a second while Barbican does not respond, and requested in pauses", async () => {
    await keys.get(ID);
    await clock.advance(61_000);
    stuck = true;
    const slow = keys.get(ID);
    await clock.advance(1_000);
    expect(await slow).toEqual(KEY);
    stuck = false;
    failure = away;
    release();
    await keys.get(ID);
    const before = reads;
    await clock.advance(9_000);
    expect(await keys.get(ID)).toEqual(KEY);
    expect(reads).toBe(before);
    await clock.advance(2_000);
    expect(await keys.get(ID)).toEqual(KEY);
    expect(reads).toBe(before + 1);
  });

  it("that were never read are not there while Barbican is away", async () => {
    failure = away;
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_UNAVAILABLE" });
  });

  const barbicanSays = (code: string, serviceType: string, serviceMessage: string): CausewayError =>
    new CausewayError(code, "no", { details: { serviceType, serviceMessage } });
  const notFound = barbicanSays("OPENSTACK_NOT_FOUND", "Not Found", "Secret not found.");

  it.each([
    notFound,
    barbicanSays("OPENSTACK_NOT_FOUND", "Not Found", "Not Found. Sorry but your secret has no payload."),
    barbicanSays("OPENSTACK_FORBIDDEN", "Forbidden", "Secret payload retrieval attempt not allowed"),
  ])("are forgotten when Barbican responds twice that it does not have them", async (error) => {
    await keys.get(ID);
    failure = error;
    await clock.advance(61_000);
    expect(await keys.get(ID)).toEqual(KEY);
    expect(lines.join("")).toContain("Barbican does not have a key; it is read again");
    failure = away;
    await clock.advance(11_000);
    expect(await keys.get(ID)).toEqual(KEY);
    failure = error;
    await clock.advance(11_000);
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_KEY_NOT_FOUND" });
    failure = away;
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_UNAVAILABLE" });
    failure = undefined;
    expect(await keys.get(ID)).toEqual(KEY);
  });

  it("remain after one response that Barbican does not have them, when the next has them", async () => {
    await keys.get(ID);
    for (let i = 0; i < 3; i++) {
      failure = notFound;
      await clock.advance(61_000);
      expect(await keys.get(ID)).toEqual(KEY);
      failure = undefined;
      await clock.advance(11_000);
      expect(await keys.get(ID)).toEqual(KEY);
    }
  });

  it.each<[string, CausewayError | Uint8Array]>([
    [
      "a 404 that is not Barbican's",
      new CausewayError("OPENSTACK_NOT_FOUND", "x", { details: { serviceMessage: "secret" } }),
    ],
    ["a 404 of another resource", barbicanSays("OPENSTACK_NOT_FOUND", "Not Found", "Sorry but your resource is away.")],
    ["a page in place of a payload", new CausewayError("OPENSTACK_UNEXPECTED_ANSWER", "text/html")],
    ["a payload of another length", Buffer.from("maintenance")],
  ])("that are held are used for the time of an outage while %s comes, and no longer", async (_what, came) => {
    await keys.get(ID);
    if (came instanceof CausewayError) failure = came;
    else payload = came;
    for (let i = 0; i < 50; i++) {
      await clock.advance(11_000);
      expect(await keys.get(ID)).toEqual(KEY);
    }
    await clock.advance(60_000);
    await expect(keys.get(ID)).rejects.toMatchObject({
      code: expect.stringMatching(/^KMS_(UNAVAILABLE|KEY_INVALID)$/) as string,
    });
    [failure, payload] = [undefined, KEY];
    expect(await keys.get(ID)).toEqual(KEY);
  });

  it("are never replaced by another key of the same secret, also after an outage", async () => {
    await keys.get(ID);
    payload = Buffer.from("<html>maintenance</html>");
    await clock.advance(61_000);
    expect(await keys.get(ID)).toEqual(KEY);
    expect(keys.conflict(ID)).toContain(`another key for the secret ${ID}`);
    expect(lines.join("")).toContain("another key for the secret");
    expect(outcomes).toEqual(["ok", "changed"]);
    await clock.advance(600_000);
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_KEY_CHANGED" });
    payload = KEY;
    expect(await keys.get(ID)).toEqual(KEY);
    expect(keys.conflict(ID)).toBeUndefined();
  });

  it("of a wrong length are refused", async () => {
    payload = Buffer.from("short");
    await expect(keys.get(ID)).rejects.toMatchObject({ code: "KMS_KEY_INVALID" });
  });

  it.each(["", "key1", "../../v1/secrets", `${ID}/../x`])("of the id %j are never requested", async (id) => {
    await expect(keys.get(id)).rejects.toMatchObject({ code: "KMS_KEY_NOT_FOUND" });
    expect(reads).toBe(0);
  });

  it("are in no line of the log", async () => {
    await keys.get(ID);
    failure = away;
    await clock.advance(61_000);
    await keys.get(ID);
    expect(lines.length).toBeGreaterThan(0);
    for (const form of ["utf8", "base64", "hex"] as const) expect(lines.join("")).not.toContain(KEY.toString(form));
  });
});
