import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RECORDED_NAME, recordedHello, type Recorded } from "../testing/recorded-hellos.ts";
import { clientHello, records } from "../testing/build-hello.ts";
import { alerts } from "./alert.ts";
import { HelloReader, type Hello } from "./client-hello.ts";

const LIMIT = 16_384;

function read(bytes: Buffer, limit = LIMIT, sizes: readonly number[] = [bytes.length]): Hello {
  const reader = new HelloReader(limit);
  let found: Hello = { type: "more" };
  let at = 0;
  for (let i = 0; at < bytes.length && found.type === "more"; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    found = reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return found;
}

describe("the server name of recorded ClientHellos", () => {
  test.each<[Recorded, string | undefined]>([
    ["openssl", RECORDED_NAME],
    ["opensslTls12", RECORDED_NAME],
    ["opensslWithoutName", undefined],
    ["kubectl", RECORDED_NAME],
    ["kubectlByAddress", undefined],
    ["node", RECORDED_NAME],
    ["nodeByAddress", undefined],
  ])("of %s is %s", (name, serverName) => {
    const hello = recordedHello(name);
    expect(read(hello)).toEqual({ type: "hello", serverName });
    // In single bytes, and with each prefix more is waited for.
    expect(read(hello, LIMIT, [1])).toEqual({ type: "hello", serverName });
    for (let end = 0; end < hello.length; end++) expect(read(hello.subarray(0, end))).toEqual({ type: "more" });
  });

  test("is found over records and segments of any size", () => {
    const message = recordedHello("kubectl").subarray(5);
    const size = fc.integer({ min: 1, max: 400 });
    fc.assert(
      fc.property(fc.array(size, { minLength: 1 }), fc.array(size, { minLength: 1 }), (recordSizes, segments) => {
        const bytes = records(message, recordSizes);
        expect(read(bytes, LIMIT, segments)).toEqual({ type: "hello", serverName: RECORDED_NAME });
      }),
    );
  });
});

describe("a built ClientHello", () => {
  const name = (text: string) => ({ type: 0, bytes: Buffer.from(text, "latin1") });
  test.each<[string, Buffer, Hello]>([
    ["has its name in lower case", clientHello({ names: [name("Web.API.example.org")] }), hello("web.api.example.org")],
    ["has its name without the last dot", clientHello({ names: [name("a.b.")] }), hello("a.b")],
    ["may have no extensions", clientHello({ extensions: false }), hello(undefined)],
    [
      "may have names of other types only",
      clientHello({ names: [{ type: 7, bytes: Buffer.from("x") }] }),
      hello(undefined),
    ],
    ["may have unknown extensions", clientHello({ names: [name("a.b")], others: [0xfe0d, 16, 0x0a0a] }), hello("a.b")],
    [
      "with two host names is refused",
      clientHello({ names: [name("a.b"), name("c.d")] }),
      refused(alerts.illegalParameter),
    ],
    ["with an empty list is refused", clientHello({ names: [] }), refused(alerts.decodeError)],
    [
      "with two extensions server_name is refused",
      clientHello({ names: [name("a.b")], others: [0] }),
      refused(alerts.illegalParameter),
    ],
    ["with an empty name is refused", clientHello({ names: [name("")] }), refused(alerts.illegalParameter)],
    [
      "with a zero byte in the name is refused",
      clientHello({ names: [name("a\0.b")] }),
      refused(alerts.illegalParameter),
    ],
    [
      "with a name of 300 bytes is refused",
      clientHello({ names: [name("a".repeat(300))] }),
      refused(alerts.illegalParameter),
    ],
    [
      "with bytes after the extensions is refused",
      clientHello({ names: [name("a.b")], rest: 1 }),
      refused(alerts.decodeError),
    ],
    ["with a session id of 33 bytes is refused", clientHello({ session: 33 }), refused(alerts.decodeError)],
  ])("%s", (_, bytes, expected) => {
    expect(read(bytes)).toMatchObject(expected);
  });
});

describe("the reader of ClientHellos", () => {
  test.each<[string, Buffer, number]>([
    ["refuses HTTP at once", Buffer.from("GET / HTTP/1.1\r\n"), alerts.unexpectedMessage],
    ["refuses SSH at once", Buffer.from("SSH-2.0-x\r\n"), alerts.unexpectedMessage],
    ["refuses a record of SSL 2 at once", Buffer.from([0x80, 0x2e, 1, 3, 1]), alerts.unexpectedMessage],
    ["refuses a record of another version at once", Buffer.from([22, 4]), alerts.protocolVersion],
    ["refuses an empty record at once", Buffer.from([22, 3, 1, 0, 0]), alerts.decodeError],
    ["refuses a record larger than 16 KiB at once", Buffer.from([22, 3, 1, 0x40, 1]), alerts.recordOverflow],
    ["refuses another handshake message at once", Buffer.from([22, 3, 1, 0, 4, 2]), alerts.unexpectedMessage],
    ["refuses a message that says 16 MB at once", Buffer.from([22, 3, 1, 0, 4, 1, 255, 255, 255]), alerts.decodeError],
  ])("%s", (_, bytes, alert) => {
    expect(read(bytes)).toMatchObject({ type: "invalid", alert });
  });

  test("refuses a ClientHello of 64 kB before its bytes have come", () => {
    const large = clientHello({ names: [{ type: 0, bytes: Buffer.from("a.b") }], padding: 65_000 });
    expect(large.length).toBeGreaterThan(65_000);
    expect(read(large.subarray(0, 9))).toMatchObject({ type: "invalid", alert: alerts.decodeError });
  });

  test("refuses records of one byte that exceed the limit together", () => {
    const bytes = records(clientHello({ names: [], padding: 9_000 }).subarray(5), [1]);
    expect(read(bytes)).toMatchObject({ type: "invalid", alert: alerts.decodeError });
  });

  test("throws for no bytes", () => {
    const start = fc.constantFrom(Buffer.alloc(0), recordedHello("node").subarray(0, 60), Buffer.from([22, 3, 1]));
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 600 }), (head, tail) => {
        const found = read(Buffer.concat([head, tail]), 512);
        expect(["hello", "more", "invalid"]).toContain(found.type);
      }),
      { numRuns: 2_000 },
    );
  });

  test("neither throws nor finds a wrong name for any changed byte of a ClientHello", () => {
    const bytes = recordedHello("openssl");
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
        const changed = Buffer.from(bytes);
        changed[at] = value;
        const found = read(changed);
        if (found.type === "hello" && found.serverName !== undefined)
          expect(found.serverName).toMatch(/^[a-z0-9_.-]{1,253}$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

function hello(serverName: string | undefined): Hello {
  return { type: "hello", serverName };
}

function refused(alert: (typeof alerts)[keyof typeof alerts]): Hello {
  return { type: "invalid", alert, reason: expect.any(String) as string };
}
