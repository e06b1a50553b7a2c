import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';

interface Props {
  /** What the button shows, and its name. */
  text: string;
  label: string;
  items: readonly string[];
  tabIndex?: number;
  onChoose: (item: string) => void;
}

/** A button that opens a menu. The keys are those of the pattern Menu Button of WAI-ARIA. */
export function MenuButton({ text, label, items, tabIndex, onChoose }: Props) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // A press outside of the menu closes it before the click arrives.
  const wasOpen = useRef(false);
  const menuId = useId();
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        tabIndex={tabIndex}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? menuId : undefined}
        className="opens-menu"
        onPointerDown={() => (wasOpen.current = open)}
        onClick={({ detail }) => setOpen(detail === 0 ? !open : !wasOpen.current)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {text}
      </button>
      {open && button.current && (
        <Menu
          id={menuId}
          label={label}
          items={items}
          beside={button.current}
          onClose={close}
          onLeave={() => setOpen(false)}
          onChoose={(item) => (close(), onChoose(item))}
        />
      )}
    </>
  );
}

interface MenuProps {
  id: string;
  label: string;
  items: readonly string[];
  beside: HTMLElement;
  onClose: () => void;
  /** The focus is elsewhere. */
  onLeave: () => void;
  onChoose: (item: string) => void;
}

/** A popover, so that rows below and the edge of a list do not cover it. */
function Menu({ id, label, items, beside, onClose, onLeave, onChoose }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = menu;
    if (!current) return;
    current.showPopover();
    place(current, beside.getBoundingClientRect());
    itemsOf(current)[0]?.focus();
    addEventListener('scroll', onLeave, { capture: true, once: true });
    return () => removeEventListener('scroll', onLeave, { capture: true });
  }, []);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    event.stopPropagation();
    if (event.key === 'Tab') return onClose();
    const all = itemsOf(event.currentTarget);
    const next = moved(event.key, all);
    if (event.key !== 'Escape' && !next) return;
    event.preventDefault();
    if (next) next.focus();
    else onClose();
  };
  return (
    <div
      popover="auto"
      className="menu"
      role="menu"
      id={id}
      aria-label={label}
      ref={menu}
      onKeyDown={onKeyDown}
      onMouseDown={(event) => event.stopPropagation()}
      onToggle={(event) => event.newState === 'closed' && onLeave()}
    >
      {items.map((item) => (
        <button key={item} type="button" role="menuitem" tabIndex={-1} onClick={() => onChoose(item)}>{item}</button>
      ))}
    </div>
  );
}

const itemsOf = (menu: HTMLElement) => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')];

/** The item to which a key moves: the next one, an end, or the next one that begins with the character. */
function moved(key: string, all: readonly HTMLElement[]): HTMLElement | undefined {
  const at = all.findIndex((item) => item === document.activeElement);
  if (key === 'ArrowDown') return all[(at + 1) % all.length];
  if (key === 'ArrowUp') return all.at(at - 1);
  if (key === 'Home') return all[0];
  if (key === 'End') return all.at(-1);
  if (key.length !== 1) return undefined;
  return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(({ textContent }) => textContent?.toLowerCase().startsWith(key.toLowerCase()));
}

/** Pixels between the menu and the edge of the window. */
const MARGIN = 8;

/** Below the button, or above it if there is room only there; inside of the window. */
function place(menu: HTMLElement, button: DOMRect): void {
  const { width, height } = menu.getBoundingClientRect();
  const left = Math.min(button.left, innerWidth - width - MARGIN);
  const above = button.bottom + height > innerHeight && button.top > height;
  const top = above ? button.top - height : Math.min(button.bottom, innerHeight - height - MARGIN);
  menu.style.left = `${Math.max(left, 0)}px`;
  menu.style.top = `${Math.max(top, 0)}px`;
}
