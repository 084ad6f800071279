// @ts-check
// A stream of events that goes on with another server when its own is about to stop.

/** How often another server is asked then, and how long to wait before that. */
const MOVES_MAX = 10;
const MOVE_MS = 1000;

/**
 * Follows a stream of events.
 * @param {string} address
 * @param {Record<string, (event: MessageEvent) => void>} handlers by the name of the event
 * @param {(isMoving: boolean) => void} onLost the connection broke, or moves to another server; it is made again
 * @param {() => void} onRefused the server refuses
 */
export function listen(address, handlers, onLost, onRefused) {
  /** @type {EventSource} */
  let events;
  let moves = 0;
  let isMoving = false;
  const open = () => {
    events = new EventSource(address);
    for (const [name, handler] of Object.entries(handlers)) {
      events.addEventListener(name, /** @type {EventListener} */ (handler));
    }
    events.addEventListener('reconnect', () => {
      moves = MOVES_MAX;
      isMoving = true;
    });
    events.addEventListener('error', () => {
      const isRefused = events.readyState === EventSource.CLOSED;
      if (isRefused && moves === 0) {
        onRefused();
        return;
      }
      onLost(isMoving);
      isMoving = false;
      // Otherwise it reconnects by itself.
      if (!isRefused) return;
      moves -= 1;
      setTimeout(open, MOVE_MS);
    });
  };
  open();
  return { close: () => events.close() };
}
