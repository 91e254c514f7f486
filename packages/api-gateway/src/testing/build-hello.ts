/** ClientHellos that no program sends. */
interface Parts {
  readonly names?: readonly { readonly type: number; readonly bytes: Buffer }[];
  /** More extensions, with four bytes each. */
  readonly others?: readonly number[];
  readonly extensions?: false;
  readonly session?: number;
  /** Bytes of padding (extension 21). */
  readonly padding?: number;
  /** Bytes behind the extensions. */
  readonly rest?: number;
}

export function clientHello({ names, others = [], extensions, session = 0, padding = 0, rest = 0 }: Parts): Buffer {
  const list = Buffer.concat(
    (names ?? []).map(({ type, bytes }) => Buffer.concat([Buffer.from([type]), vector(2, bytes)])),
  );
  const all = Buffer.concat([
    ...(names === undefined ? [] : [extension(0, vector(2, list))]),
    ...others.map((type) => extension(type, Buffer.alloc(4))),
    ...(padding === 0 ? [] : [extension(21, Buffer.alloc(padding))]),
  ]);
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(session)),
    vector(2, Buffer.from([0x13, 1])),
    vector(1, Buffer.from([0])),
    ...(extensions === false ? [] : [vector(2, all)]),
    Buffer.alloc(rest),
  ]);
  const message = Buffer.concat([Buffer.from([1]), vector(3, body)]);
  return records(message, [16_000]);
}

/** The message in records with so many bytes each, over and over. */
export function records(message: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, i = 0; at < message.length; i++) {
    const part = message.subarray(at, at + (sizes[i % sizes.length] ?? 1));
    parts.push(Buffer.from([22, 3, 1]), vector(2, part));
    at += part.length;
  }
  return Buffer.concat(parts);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type >> 8, type & 255]), vector(2, content)]);
}

function vector(bytes: number, content: Buffer): Buffer {
  const length = Buffer.alloc(bytes);
  length.writeUIntBE(content.length, 0, bytes);
  return Buffer.concat([length, content]);
}
