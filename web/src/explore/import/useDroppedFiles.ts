import { useEffect, useState } from 'react';

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;

/** Calls `onFiles` with the files that are dropped on the page. Returns whether files are dragged over it. */
export function useDroppedFiles(onFiles: (files: File[]) => void): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault(); // so that the browser does not open the file
      setOver(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length > 0) onFiles(files);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  }, [onFiles]);
  return over;
}
