import { Duplex } from "node:stream";
import { VirtualClock } from "@causeway/foundation";
import { expect, test } from "vitest";
import { grpcCodec } from "../protocol/grpc-codec.ts";
import { Connection } from "./connection.ts";

/** The types of packets with which an agent responds to a server's close of an open stream. */
function responsesToClose(peerWindow: number | undefined): string[] {
  const responses: string[] = [];
  const reader = grpcCodec();
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      reader.read(chunk, ({ type }) => responses.push(type));
      done();
    },
  });
  const connection = new Connection({
    wire,
    codec: grpcCodec(),
    role: "agent",
    peerWindow,
    clock: new VirtualClock(0),
    onPacket() {},
    onLost() {},
  });
  connection.open(1n, new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }), () => {});
  wire.emit("data", grpcCodec().packet({ type: "close", id: 1n }));
  expect(connection.streams).toBe(0);
  connection.lose("the test is over");
  return responses;
}

test("an agent responds to a close of a stock server", () => {
  expect(responsesToClose(undefined)).toEqual(["closed"]);
});

test("an agent does not respond to a close of a server with windows, which knows the stream no more", () => {
  expect(responsesToClose(64 * 1024)).toEqual([]);
});
