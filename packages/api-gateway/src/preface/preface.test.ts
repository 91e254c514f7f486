import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clientHello } from "../testing/build-hello.ts";
import { PrefaceReader, type Preface } from "./preface.ts";
import { authorityHeader, readProxyHeader } from "./proxy-header.ts";

const hello = clientHello({ names: [{ type: 0, bytes: Buffer.from("sni.test") }] });
const signature = authorityHeader("x").subarray(0, 12);
/** A header as load balancers send it: the client's address and port, and ours. */
const tcp4 = header(0x21, 0x11, [192, 0, 2, 9, 10, 0, 0, 1, 0x30, 0x39, 0x19, 0x2b]);
const tcp6 = header(0x21, 0x21, [
  0x20,
  1,
  0x0d,
  0xb8,
  ...Array.from({ length: 11 }, () => 0),
  5,
  ...Array.from({ length: 20 }, () => 1),
]);

function header(command: number, family: number, content: readonly number[]): Buffer {
  const fixed = Buffer.from([command, family, content.length >> 8, content.length & 255]);
  return Buffer.concat([signature, fixed, Buffer.from(content)]);
}

function read(bytes: Buffer, trusted: boolean, sizes: readonly number[] = [bytes.length]): Preface {
  const reader = new PrefaceReader({ trusted, helloLimit: 16_384 });
  let found: Preface = { type: "more" };
  for (let at = 0, i = 0; at < bytes.length && found.type === "more"; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    found = reader.push(bytes.subarray(at, at + size));
    at += size;
  }
  return found;
}

const join = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);
const node = authorityHeader("node.test");

describe("the beginning of a connection to the gateway", () => {
  test.each<[string, Buffer, boolean, string | undefined, string | undefined]>([
    ["is read as a ClientHello", hello, false, "sni.test", undefined],
    ["is read as a node's header before a ClientHello", join(node, hello), false, "node.test", undefined],
    ["is read as a load balancer's header", join(tcp4, hello), true, "sni.test", "192.0.2.9"],
    ["is read as a load balancer's header of IPv6", join(tcp6, hello), true, "sni.test", "2001:db8::5"],
    ["is read as a load balancer's header, and a node's", join(tcp4, node, hello), true, "node.test", "192.0.2.9"],
    ["is read without the header of a peer that is not trusted", join(tcp4, hello), false, "sni.test", undefined],
    ["is read as a health check's header", join(header(0x20, 0, []), hello), true, "sni.test", undefined],
  ])("%s", (_, bytes, trusted, serverName, source) => {
    const expected = { type: "route", serverName, source };
    expect(read(bytes, trusted)).toMatchObject(expected);
    const found = read(bytes, trusted, [1]);
    expect(found).toMatchObject(expected);
    // What came after the headers is what the API server gets first, as far as it was read.
    if (found.type === "route" && serverName === "sni.test") expect(found.bytes).toEqual(hello);
  });

  test("is followed to the API server by every byte behind the headers, however they come", () => {
    const early = Buffer.from("early data");
    const all = join(tcp4, hello, early);
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 });
    fc.assert(
      fc.property(sizes, (segments) => {
        const found = read(all, true, segments);
        expect(found).toMatchObject({ type: "route", serverName: "sni.test", source: "192.0.2.9" });
        if (found.type === "route") expect(join(hello, early).indexOf(found.bytes)).toBe(0);
      }),
    );
  });

  test.each<[string, Buffer, boolean]>([
    ["a second header of a peer that is not trusted", join(node, node), false],
    ["a third header", join(tcp4, tcp4, tcp4, hello), true],
    ["version 1 of the protocol", Buffer.from("PROXY TCP4 192.0.2.9 10.0.0.1 1 2\r\n"), true],
    ["another version", header(0x31, 0x11, []), true],
    ["another family", header(0x21, 0x31, []), true],
    ["addresses that are cut off", header(0x21, 0x11, [1, 2, 3]), true],
    ["a field that is cut off", header(0x21, 0, [2, 0, 9, 65]), false],
    ["an authority that is not a name", header(0x21, 0, [2, 0, 1, 0]), false],
    ["two authorities", header(0x21, 0, [2, 0, 1, 65, 2, 0, 1, 65]), false],
    ["a header of 3 kB", Buffer.concat([signature, Buffer.from([0x21, 0, 0x0c, 0])]), false],
  ])("is refused or decides nothing as %s", (_, bytes, trusted) => {
    const found = read(bytes, trusted);
    // Of two headers of one peer the first decides; the second is the API server's to refuse.
    if (bytes.equals(join(node, node))) expect(found).toMatchObject({ type: "route", serverName: "node.test" });
    else expect(found).toMatchObject({ type: "invalid" });
  });

  test("never makes the reader throw, whatever is behind the signature", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => {
        const bytes = join(signature, Buffer.from([0x21, 0x11]), Buffer.from(tail));
        expect(["header", "more", "invalid"]).toContain(readProxyHeader(bytes).type);
      }),
    );
  });
});
