import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resolveAll } from "./resolve-names.ts";

let dir: string;
let hostsFile: string;
let socket: Socket;
let servers: string[];
/** Responds to queries that have no response yet. */
const held: (() => void)[] = [];
/** The same, which are sent behind the next response about IPv6. */
const late: (() => void)[] = [];

/** A response to the query with these addresses of four or sixteen bytes. */
function response(query: Buffer, address: Buffer | undefined): Buffer {
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(address ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(address ? 1 : 0, 6);
  head.fill(0, 8);
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  if (!address) return Buffer.concat([head, question]);
  const type = question.readUInt16BE(question.length - 4);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([head, question, record, address]);
}

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "resolve-"));
  hostsFile = join(dir, "hosts");
  const lines = ["# 192.0.2.1 no.test", "192.0.2.5 Listed.test other.test # no.test", "2001:db8::5 listed.test"];
  writeFileSync(hostsFile, [...lines, "nothing fine-old.test", "192.0.2.6 not-fine-old.test", ""].join("\n"));
  socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const isIpv6 = query.readUInt16BE(query.indexOf(0, 12) + 1) === 28;
    const known = query.includes("fine") && !(isIpv6 && query.includes("old"));
    const found = isIpv6 ? Buffer.from("20010db8000000000000000000000007", "hex") : Buffer.from([192, 0, 2, 7]);
    const respond = (): void => socket.send(response(query, known ? found : undefined), port, address);
    if (query.includes("late") && !isIpv6) late.push(respond);
    else if (query.includes("slow")) held.push(respond);
    else respond();
    if (isIpv6) for (const other of late.splice(0)) other();
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  servers = [`127.0.0.1:${socket.address().port}`];
});
afterAll(() => {
  socket.close();
  rmSync(dir, { recursive: true, force: true });
});

function addressesOf(name: string): Promise<string> {
  return new Promise((done) =>
    resolveAll({ hostsFile, servers })(name, (error, found) =>
      done(error?.message ?? found.map(({ address }) => address).join(" ")),
    ),
  );
}

test.for([
  ["listed.test", "192.0.2.5 2001:db8::5"],
  ["OTHER.test.", "192.0.2.5"],
  ["fine.test", "192.0.2.7 2001:db8::7"],
  ["fine-old.test", "192.0.2.7"],
  ["fine-late.test", "192.0.2.7 2001:db8::7"],
  ["no.test", "queryA ENOTFOUND no.test"],
] as const)("the name %s leads to %s", async ([name, expected]) => {
  expect(await addressesOf(name)).toBe(expected);
});

test("names whose servers do not respond hold up no other", async () => {
  const slow = Array.from({ length: 8 }, (_, at) => addressesOf(`slow${at}.test`));
  await expect.poll(() => held.length).toBeGreaterThanOrEqual(16);
  expect(await addressesOf("fine.test")).toBe("192.0.2.7 2001:db8::7");
  for (const respond of held.splice(0)) respond();
  expect(await Promise.all(slow)).toHaveLength(8);
});

test.for([
  ["the usual file is read, with the servers given", { hosts: undefined, name: "localhost" }, /^(127\.0\.0\.1|::1)/],
  ["a file that is not there lists nothing", { hosts: "/absent/hosts", name: "fine.test" }, /^192\.0\.2\.7 /],
] as const)("without hosts of its own, %s", async ([, { hosts, name }, expected]) => {
  const resolve = resolveAll({ ...(hosts && { hostsFile: hosts }), servers });
  expect(
    await new Promise((done) =>
      resolve(name, (_error, [first, second]) => done(`${first?.address} ${second?.address}`)),
    ),
  ).toMatch(expected);
});

test("a text that cannot be a name leads to an error, whatever servers this machine has", async () => {
  const resolve = resolveAll({ hostsFile });
  const failure = await new Promise<Error | null>((done) => resolve("a".repeat(64), (error) => done(error)));
  expect(failure?.message).toContain("EBADNAME");
});
