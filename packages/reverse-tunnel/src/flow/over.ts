/** The reason of signals that only end a wait: an abort without one makes an exception with a stack trace each time. */
export const OVER = new Error("the wait is over");
