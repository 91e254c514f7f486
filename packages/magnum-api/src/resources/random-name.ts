import { randomInt } from "node:crypto";

const letters = [
  "alpha",
  "beta",
  "gamma",
  "delta",
  "epsilon",
  "zeta",
  "eta",
  "theta",
  "iota",
  "kappa",
  "lambda",
  "mu",
  "nu",
  "xi",
  "omicron",
  "pi",
  "rho",
  "sigma",
  "tau",
  "upsilon",
  "phi",
  "chi",
  "psi",
  "omega",
];

/** "zeta-22": the beginning of the name of what was given none. */
export function randomName(): string {
  return `${letters[randomInt(letters.length)] ?? "alpha"}-${randomInt(1, 25)}`;
}
