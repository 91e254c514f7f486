import type { Socket } from "node:net";

/** Writes so many bytes, as fast as the socket takes them. */
export function pour(socket: Socket, size: number): void {
  const block = Buffer.alloc(64 * 1024, 7);
  let left = size;
  const next = (): void => {
    while (left > 0 && !socket.destroyed) {
      const piece = left < block.length ? block.subarray(0, left) : block;
      left -= piece.length;
      if (!socket.write(piece)) return;
    }
  };
  socket.on("drain", next);
  next();
}

/** Reads so many bytes, and responds to the last one with one. */
export function swallow(socket: Socket, size: number): void {
  let left = size;
  socket.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left === 0) socket.write("d");
  });
}

/** Reads so many bytes, and pauses. @throws when the socket closes before */
export function read(socket: Socket, size: number): Promise<void> {
  return new Promise((done, reject) => {
    let left = size;
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left > 0) return;
      socket.off("data", onData).off("close", onClose).pause();
      done();
    };
    const onClose = (): void => reject(new Error(`a stream ended with ${left} bytes to come`));
    socket.on("data", onData).once("close", onClose).resume();
  });
}
