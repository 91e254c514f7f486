import { randomInt } from "node:crypto";

const letters = "abcdefghijklmnopqrstuvwxyz0123456789";

/** A bootstrap token from a cryptographic random number generator. */
export function newToken(): string {
  return `${randomText(6)}.${randomText(16)}`;
}

function randomText(length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
