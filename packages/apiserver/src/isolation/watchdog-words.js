/* How the memory is laid out that a watchdog shares with the thread it watches: words of 32 bits, then a text. */

/** Turns of the event loop. */
export const TURNS = 0;
/** Length of the text: "CLUSTER\nREQUEST" of who holds the thread, 0 if none does. */
export const LENGTH = 1;
/** 1 to stop the watchdog. */
export const STOP = 2;
/** Where the text begins, in bytes. */
export const TEXT = 16;
