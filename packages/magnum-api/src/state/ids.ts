import { randomBytes } from "node:crypto";
import type { Clock } from "@causeway/foundation";

/**
 * Makes UUIDs of version 7: later ones are larger, so that pages in the order of ids are pages in the order of
 * creation.
 */
export function createIds(clock: Clock): () => string {
  let last = 0;
  let count = 0;
  return () => {
    const now = Math.max(clock.now(), last);
    count = now === last ? count + 1 : 0;
    // 4,096 ids in one millisecond: those beyond borrow from the next.
    last = count > 0xfff ? now + 1 : now;
    if (count > 0xfff) count = 0;
    const random = randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const hex = `${last.toString(16).padStart(12, "0")}7${count.toString(16).padStart(3, "0")}${random.toString("hex")}`;
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  };
}
